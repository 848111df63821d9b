//! The device that a browser pretends to be: page size, language, time zone, user agent, and
//! location.

use serde_json::{Value, json};

/// The device that an episode's pages see.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Size of the page in CSS pixels: width, height.
    pub viewport: (u32, u32),
    /// Such as `en-US`: for number and date formats, for the `Accept-Language` header, and for
    /// `navigator.language`.
    pub locale: String,
    /// Such as `Europe/Berlin`.
    pub timezone: String,
    /// The whole `User-Agent` header; `None` keeps the browser's own.
    pub user_agent: Option<String>,
    /// A touch screen, and pages laid out as on a phone.
    pub mobile: bool,
    /// The location that pages get if they ask. Without one they get none.
    pub geolocation: Option<Geolocation>,
}

/// A location on earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geolocation {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The accuracy in metres.
    pub accuracy: f64,
}

impl Default for Device {
    /// A desktop screen of 1280 x 720, `en-US`, `UTC`, without a location.
    fn default() -> Self {
        Self {
            viewport: (1280, 720),
            locale: "en-US".to_owned(),
            timezone: "UTC".to_owned(),
            user_agent: None,
            mobile: false,
            geolocation: None,
        }
    }
}

impl Device {
    /// The commands that make a page see the device.
    pub(crate) fn page_overrides(&self) -> Vec<(&'static str, Value)> {
        let (width, height) = self.viewport;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": self.mobile,
            "screenWidth": width, "screenHeight": height });
        let mut commands = vec![
            ("Emulation.setLocaleOverride", json!({ "locale": self.locale })),
            ("Emulation.setTimezoneOverride", json!({ "timezoneId": self.timezone })),
            ("Emulation.setDeviceMetricsOverride", metrics),
        ];
        if self.mobile {
            let touch = json!({ "enabled": true, "maxTouchPoints": 5 });
            commands.push(("Emulation.setTouchEmulationEnabled", touch));
        }
        if let Some(Geolocation { latitude, longitude, accuracy }) = self.geolocation {
            let place =
                json!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy });
            commands.push(("Emulation.setGeolocationOverride", place));
        }
        commands
    }

    /// Permissions that the pages of the episode have without asking.
    pub(crate) fn permissions(&self) -> Vec<&'static str> {
        self.geolocation.iter().map(|_| "geolocation").collect()
    }
}
