//! `PageImageEvaluator`: the queries about a page's pictures, and `image_utils.get_image_ssim`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use python_compat::pillow::{self, ImageError, Picture};
use python_compat::skimage;
use serde::{Deserialize, Serialize};

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::super::webarena::{BAD_VALUE, OR};
use super::{Evaluation, target};
use crate::evidence::pages::{Pages, Stop};
use crate::evidence::{Fetch, PictureEvidence};

/// A question about the pictures of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageImageQuery {
    /// The page: `last` for the one that is open, an address, or `func:` and a call that gives one.
    pub eval_image_url: String,
    /// A selector of classes: the query looks at the pictures that it selects and at those inside.
    /// All visible pictures if it is empty. Where it does not begin with a dot, the published code
    /// raises an exception.
    pub eval_image_class: String,
    /// The questions to a model about one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub eval_vqa: Vec<Vqa>,
    /// Addresses of pictures of which one has to be like one of the page's, divided by ` |OR| `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_fuzzy_image_match: Option<String>,
    /// How like: the structural similarity has to be more than this; 0.8 unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssim_threshold: Option<f64>,
}

/// A question to a model that sees a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vqa {
    pub question: String,
    /// The text that the model's reply must contain.
    pub answer: String,
}

const THRESHOLD: f64 = 0.8;

/// Reads query after query, up to the first that finds no picture.
pub(super) async fn read<P: Pages>(
    evaluation: &Evaluation,
    pages: &mut P,
    seen: &mut Vec<PictureEvidence>,
) -> Result<(), Stop<P::Error>> {
    let shop = evaluation.shopping.as_deref().unwrap_or_default();
    for query in &evaluation.page_image_query {
        let url = target::address(&query.eval_image_url, pages, shop).await?;
        let pictures = match url.as_str() {
            "last" => addresses(query, pages).await,
            url => {
                pages.open_beside(url).await?;
                let pictures = addresses(query, pages).await;
                pages.close_beside().await?;
                pictures
            }
        }?;
        let found = compare_images(query, pages, &pictures).await?;
        let nothing = found.opened == 0;
        seen.push(found);
        if nothing {
            break;
        }
    }
    Ok(())
}

/// The addresses of the pictures on the page.
async fn addresses<P: Pages>(
    query: &PageImageQuery,
    pages: &mut P,
) -> Result<Vec<String>, Stop<P::Error>> {
    let class = query.eval_image_class.as_str();
    let pictures = if python_compat::text::strip(class).is_empty() {
        EVERY_PICTURE.to_owned()
    } else if class.starts_with('.') {
        let selector = serde_json::Value::from(class);
        format!(
            "[...document.querySelectorAll({selector})] \
             .flatMap((one) => one.tagName === 'IMG' ? [one] : [...one.querySelectorAll('img')])"
        )
    } else {
        return Err(Stop::Raised("ValueError"));
    };
    let found = pages
        .evaluate(&format!("{pictures}{ADDRESSES}"))
        .await?
        .map_err(|_| Stop::Raised("Error"))?;
    let texts = found.as_array().into_iter().flatten().filter_map(|address| address.as_str());
    Ok(texts.map(str::to_owned).collect())
}

/// `page.get_by_role("img").all()`: what has that role by its tag or says so, and is not hidden. An
/// `img` with an empty `alt` is decoration unless something else speaks for it.
const EVERY_PICTURE: &str = r#"[...document.querySelectorAll('img, [role]')].filter((one) => {
    const said = (one.getAttribute('role') ?? '').trim().split(/\s+/)[0];
    const spoken = ['title', 'tabindex', 'aria-label', 'aria-labelledby', 'aria-describedby'];
    const decoration = one.getAttribute('alt') === '' && !spoken.some((name) => one.hasAttribute(name));
    const is = said ? said === 'img' : one.tagName === 'IMG' && !decoration;
    return is && !one.closest('[aria-hidden="true"]') && one.checkVisibility({ visibilityProperty: true });
})"#;

/// Of elements, where their pictures are.
const ADDRESSES: &str = ".map((one) => one.getAttribute('src')) \
    .filter((address) => address !== null && !address.startsWith('www.')) \
    .flatMap((address) => { try { return [new URL(address, location.href).href]; } catch { return []; } })";

/// Opens the page's pictures and, where there are any, compares them with those that are wanted.
/// What is no picture is passed over.
async fn compare_images<P: Pages>(
    query: &PageImageQuery,
    pages: &mut P,
    addresses: &[String],
) -> Result<PictureEvidence, Stop<P::Error>> {
    let mut seen = PictureEvidence::default();
    let mut pictures = Vec::new();
    for address in addresses {
        let Ok(answer) = pages.fetch(&Fetch::get(address)).await? else { continue };
        match Picture::open(&answer.body) {
            Ok(picture) => pictures.push(picture),
            Err(ImageError::NoPicture) => continue,
            Err(ImageError::Broken) => return Err(Stop::Raised("OSError")),
        }
        if !query.eval_vqa.is_empty() {
            seen.pictures.push(data_url(&answer.body));
        }
    }
    seen.opened = pictures.len();
    let Some(wanted) = query.eval_fuzzy_image_match.as_ref().filter(|_| seen.opened > 0) else {
        return Ok(seen);
    };
    let mut likeness = f64::NEG_INFINITY;
    for address in wanted.split(OR) {
        // What begins otherwise is a file of the published repository, which is not here.
        if !address.starts_with("http") {
            return Err(Stop::Raised("FileNotFoundError"));
        }
        let answer = pages.fetch(&Fetch::get(address)).await?;
        let answer = answer.map_err(|_| Stop::Raised("ConnectionError"))?;
        let one =
            Picture::open(&answer.body).map_err(|_| Stop::Raised("UnidentifiedImageError"))?;
        for picture in &pictures {
            likeness = likeness.max(ssim(picture, &one).ok_or(Stop::Raised("ValueError"))?);
        }
    }
    seen.likeness = Some(likeness);
    Ok(seen)
}

/// `get_image_ssim` of two files: their structural similarity, once both are grey and of one size;
/// at most 1.
///
/// # Errors
/// Where the published code raises an exception: for what is no picture, and for pictures of less
/// than seven pixels a side.
pub fn image_ssim(one: &[u8], other: &[u8]) -> Result<f64, ScoreError> {
    let open = |bytes| {
        Picture::open(bytes).map_err(|unreadable| match unreadable {
            ImageError::NoPicture => ScoreError::Raised("UnidentifiedImageError"),
            ImageError::Broken => ScoreError::Raised("OSError"),
        })
    };
    ssim(&open(one)?, &open(other)?).ok_or(BAD_VALUE)
}

fn ssim(one: &Picture, other: &Picture) -> Option<f64> {
    let (width, height) = (one.width.max(other.width), one.height.max(other.height));
    let grey = |picture: &Picture| picture.resize(width, height).grey();
    skimage::structural_similarity(&grey(one), &grey(other), width as usize)
}

fn data_url(bytes: &[u8]) -> String {
    let kind = pillow::media_type(bytes).unwrap_or("application/octet-stream");
    format!("data:{kind};base64,{}", STANDARD.encode(bytes))
}

/// Returns the score of the last query once all before it have found pictures, and the conditions
/// that do not hold, for people.
pub(super) fn score(
    queries: &[PageImageQuery],
    seen: &[PictureEvidence],
) -> Result<(PartialScore, Vec<String>), ScoreError> {
    // The published code begins with a score of 1 at every query, and gives that of the last.
    // Without any there is no score to give.
    let mut score = Err(ScoreError::Raised("UnboundLocalError"));
    let mut wrong = Vec::new();
    for (place, query) in queries.iter().enumerate() {
        let found = seen.get(place).ok_or(BAD_VALUE)?;
        let class = query.eval_image_class.trim();
        let on = format!(
            "{} at {}",
            if class.is_empty() { "the page" } else { class },
            query.eval_image_url
        );
        if found.opened == 0 {
            let mut none = PartialScore::new();
            none.rule(false);
            return Ok((none, vec![format!("there is no picture in {on}")]));
        }
        let given = query.judge(found)?;
        wrong.clear();
        if given.rule_score == 0.0 {
            let likeness = found.likeness.unwrap_or_default();
            wrong.push(format!(
                "no picture in {on} is the one that is wanted: the best is like it by {likeness:.3}"
            ));
        }
        score = Ok(given);
    }
    Ok((score?, wrong))
}

impl PageImageQuery {
    /// Whether the published code looks for such pictures.
    pub fn has_known_class(&self) -> bool {
        let class = self.eval_image_class.as_str();
        python_compat::text::strip(class).is_empty() || class.starts_with('.')
    }

    fn judge(&self, found: &PictureEvidence) -> Result<PartialScore, ScoreError> {
        if self.eval_vqa.is_empty() && self.eval_fuzzy_image_match.is_none() {
            return Err(ScoreError::Raised("AssertionError"));
        }
        let mut score = PartialScore::new();
        let threshold = self.ssim_threshold.unwrap_or(THRESHOLD);
        score.rule(found.likeness.is_none_or(|likeness| likeness > threshold));
        let question = |Vqa { question, answer }: &Vqa| Question::Shows {
            pictures: found.pictures.clone(),
            question: question.clone(),
            answer: answer.clone(),
        };
        score.questions.extend(self.eval_vqa.iter().map(question));
        Ok(score)
    }
}
