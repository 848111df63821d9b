//! How Chromium is made to pretend to be a device.

use serde_json::{Value, json};
use world_spec::{Device, Geolocation};

/// The commands that make a page see the device.
pub(crate) fn page_overrides(device: &Device) -> Vec<(&'static str, Value)> {
    let (width, height) = device.viewport;
    let metrics = json!({
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": device.mobile,
        "screenWidth": width, "screenHeight": height
    });
    let mut commands = vec![
        ("Emulation.setLocaleOverride", json!({ "locale": device.locale })),
        ("Emulation.setTimezoneOverride", json!({ "timezoneId": device.timezone })),
        ("Emulation.setDeviceMetricsOverride", metrics),
    ];
    if device.mobile {
        let touch = json!({ "enabled": true, "maxTouchPoints": 5 });
        commands.push(("Emulation.setTouchEmulationEnabled", touch));
    }
    if let Some(Geolocation { latitude, longitude, accuracy }) = device.geolocation {
        let place = json!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy });
        commands.push(("Emulation.setGeolocationOverride", place));
    }
    commands
}

/// Permissions that the pages of the episode have without asking.
pub(crate) fn permissions(device: &Device) -> Vec<&'static str> {
    device.geolocation.iter().map(|_| "geolocation").collect()
}
