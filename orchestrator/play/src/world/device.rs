//! What pages see of the device that shows them: that of the world, with what a task changes.

use browser::{Device, Geolocation, Pace};
use tasks::{DeviceSpec, Place, WorldSpec};

/// What the pages of a world's tasks see.
pub fn of_world(spec: &WorldSpec) -> Device {
    Device {
        viewport: spec.viewport,
        locale: spec.locale.clone(),
        timezone: spec.timezone.clone(),
        ..Device::default()
    }
}

/// How much of their own time the pages of a world get in a step.
pub(crate) fn pace(spec: &WorldSpec) -> Pace {
    Pace { least: spec.pace.least, most: spec.pace.most }
}

/// What the pages of a task in this world see.
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
