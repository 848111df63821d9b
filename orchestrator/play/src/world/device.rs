//! The device that pages see: that of the world, with the task's changes.

use browser::{Device, Geolocation, Pace};
use tasks::{DeviceSpec, Place, WorldSpec};

/// Returns the device for tasks that change nothing of it.
pub fn of_world(spec: &WorldSpec) -> Device {
    Device {
        viewport: spec.viewport,
        locale: spec.locale.clone(),
        timezone: spec.timezone.clone(),
        ..Device::default()
    }
}

/// Returns how much of their own time pages get in a step.
pub(crate) fn pace(spec: &WorldSpec) -> Pace {
    Pace { least: spec.pace.least, most: spec.pace.most }
}

/// Returns the device of a task in this world.
pub fn of_task(spec: &WorldSpec, task: &DeviceSpec) -> Device {
    let usual = of_world(spec);
    let place = |place: Place| Geolocation {
        latitude: place.latitude,
        longitude: place.longitude,
        accuracy: place.accuracy,
    };
    Device {
        viewport: task.viewport.unwrap_or(usual.viewport),
        locale: task.locale.clone().unwrap_or(usual.locale),
        timezone: task.timezone.clone().unwrap_or(usual.timezone),
        user_agent: task.user_agent.clone(),
        mobile: task.mobile,
        geolocation: task.geolocation.map(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A visit without a suite, such as that of a check, has the pace of a suite that names none.
    #[test]
    fn suites_and_browsers_have_one_usual_pace() {
        let tasks::Pace { least, most } = tasks::Pace::default();
        assert_eq!(Pace { least, most }, Pace::default());
    }
}
