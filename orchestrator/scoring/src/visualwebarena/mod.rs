//! VisualWebArena's scorers, as in `evaluation_harness/evaluators.py` of
//! web-arena-x/visualwebarena: relatives of [WebArena's](super::webarena) that clean, split and
//! compare otherwise, and one more that looks at pictures. [`Evaluation`] puts them together.

mod contents;
mod evaluation;
mod function;
mod order;
mod page_image_query;
mod required_values;
mod rule;
mod string_match;
mod target;
mod url_match;

pub use evaluation::{EvalType, Evaluation};
pub use page_image_query::{PageImageQuery, Vqa, image_ssim};
pub use string_match::StringMatch;
pub use url_match::UrlMatch;
