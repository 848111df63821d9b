//! Starts a browser and ends it: from the settings of a [`Launch`](crate::Launch) to running
//! processes, and to the certain end of every one of them.
//!
//! ```text
//! settings, device   what is started, and what its pages see of the machine
//! programs, flags    which programs run, and their command line
//! process            Chromium and its children as one process group, with one folder
//! leftovers          what sessions of killed processes leave, and its removal
//! fonts              the fonts of pages
//! interfaces         no news of network interfaces for these processes
//! chromium           Chromium's pipes, and where its connections lead
//! chromedriver       the WebDriver server for it, where clients need one
//! last_words         what it writes to its standard error
//! memory             a bound on what all its processes take together
//! control_group      the same by the kernel, where the system gives us a part of its tree
//! services           Chromium's network, storage and GPU processes, watched for their end
//! ```
//!
//! Nothing here knows a page: pages begin in [`Session`](crate::Session).

pub(crate) mod chromedriver;
pub(crate) mod chromium;
mod control_group;
pub(crate) mod device;
mod flags;
pub(crate) mod fonts;
pub(crate) mod interfaces;
mod last_words;
mod leftovers;
pub(crate) mod memory;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod services;
pub(crate) mod settings;
