//! What an agent sees of a page, and how it may be written: the values, without the browser that
//! fills them.
//!
//! ```text
//! page        an observation and its parts
//! options     which formats are wanted; pictures
//! tree_text   the arguments of BrowserGym's texts
//! reports     dialogs, downloads, messages in the console
//! tokens      token budgets
//! ```
//!
//! How each format comes out of a page is the browser's part.

mod options;
mod page;
mod reports;
mod tokens;
mod tree_text;

pub use options::{Marks, ObservationOptions, ScreenshotOptions, WebArena};
pub use page::{Element, ElementBox, Field, Html, Observation, Properties, Tab};
pub use reports::{ConsoleMessage, Dialog, Download};
pub use tokens::{count_tokens, truncate};
pub use tree_text::{PrunedHtml, TreeText};
