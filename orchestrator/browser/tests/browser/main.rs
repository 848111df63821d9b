//! The browser, in real Chromium: one program, so that its tests run side by side.

#![allow(clippy::unwrap_used)]

mod actions;
mod animations;
mod apis;
mod attached;
mod bench;
mod clipboard;
mod console;
mod determinism;
mod device;
mod dialects;
mod files;
mod fixtures;
mod formats;
mod hostile;
mod hostile_pages;
mod landing;
mod lifecycle;
mod load;
mod media;
mod order;
mod outside;
mod pacing;
mod pages;
mod pictures;
mod popups;
mod promises;
mod reaching;
mod replay;
mod replies;
mod response_ordering;
mod settling;
mod storage;
mod streams;
mod surveys;
mod web;
