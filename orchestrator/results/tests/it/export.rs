//! Tables of a run that was written by hand, read back by other people's readers.

use camino::Utf8PathBuf;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row, RowAccessor as _};
use results::export::{Format, table};
use results::{EpisodeId, RunFolder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::written::{Tested, write_run};

const ANSWER: &str = "two \"quotes\",\na comma, a semicolon; and \u{1f682}\r\n=1+1";

/// A run of three episodes: the first has an answer that tables find hard, the second waits for a
/// judge, the third was written before there were times.
fn run() -> Result<(TempDir, Utf8PathBuf), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_run(&path, &["a", "b", "c"])?;
    let folder = RunFolder::open(&path)?;
    for mut record in folder.episodes()? {
        let files = folder.episode(&EpisodeId { task: record.task.clone(), repeat: record.repeat });
        record.answer = Some(ANSWER.to_owned());
        record.requests.miss = 7;
        record.score = Some(0.25);
        record.refused_hosts = ["a.test".to_owned(), "b.test".to_owned()].into();
        if record.repeat == 2 {
            (record.answer, record.score) = (None, None);
            record.refused_hosts.clear();
        }
        if record.repeat == 3 {
            record.times = None;
        }
        files.rewrite(&record)?;
    }
    Ok((temporary, path))
}

#[test]
fn csv_keeps_quotes_and_line_breaks() -> Tested {
    let (temporary, path) = run()?;
    let file = Utf8PathBuf::try_from(temporary.path().join("run.csv"))?;
    assert_eq!(table(&path, &file, Format::Csv, false)?, 3);
    let mut reader = csv::Reader::from_path(&file)?;
    let names = reader.headers()?.clone();
    let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
    let cell = |row: usize, name: &str| {
        names
            .iter()
            .position(|known| known == name)
            .and_then(|place| rows[row].get(place))
            .unwrap_or("no such column")
    };
    assert_eq!((rows.len(), cell(0, "answer"), cell(0, "misses")), (3, ANSWER, "7"));
    assert_eq!(
        (cell(0, "score"), cell(0, "unjudged"), cell(0, "agent_ms")),
        ("0.25", "false", "3")
    );
    assert_eq!((cell(0, "prompt_tokens"), cell(0, "cost")), ("1234", "0.25"));
    assert_eq!(
        (cell(0, "refused_hosts"), cell(0, "started")),
        ("a.test;b.test", "1970-01-01T00:00:00Z")
    );
    assert_eq!((cell(1, "answer"), cell(1, "score"), cell(1, "unjudged")), ("", "", "true"));
    assert_eq!((cell(2, "repeat"), cell(2, "agent_ms"), cell(2, "fingerprint")), ("3", "", "c"));
    Ok(())
}

#[test]
fn json_has_lists_and_nothing_as_such() -> Tested {
    let (temporary, path) = run()?;
    let file = Utf8PathBuf::try_from(temporary.path().join("run.json"))?;
    table(&path, &file, Format::Json, false)?;
    let rows: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&rows[0]["answer"], &rows[0]["refused_hosts"]),
        (&json!(ANSWER), &json!(["a.test", "b.test"]))
    );
    assert_eq!((&rows[1]["answer"], &rows[1]["refused_hosts"]), (&Value::Null, &json!([])));
    assert_eq!((&rows[0]["outcome"], &rows[0]["success"]), (&json!("error"), &json!(false)));
    Ok(())
}

#[test]
fn parquet_is_read_back_as_it_was() -> Tested {
    let (temporary, path) = run()?;
    let file = Utf8PathBuf::try_from(temporary.path().join("run.parquet"))?;
    table(&path, &file, Format::Parquet, false)?;
    let reader = SerializedFileReader::new(std::fs::File::open(&file)?)?;
    let rows = reader.get_row_iter(None)?.collect::<Result<Vec<Row>, _>>()?;
    let cell = |row: usize, name: &str| {
        rows[row]
            .get_column_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, field)| field.clone())
    };
    let text = |text: &str| Some(Field::Str(text.to_owned()));
    assert_eq!(rows.len(), 3);
    assert_eq!((cell(0, "answer"), cell(1, "answer")), (text(ANSWER), Some(Field::Null)));
    assert_eq!(
        (cell(0, "score"), cell(1, "score")),
        (Some(Field::Double(0.25)), Some(Field::Null))
    );
    assert_eq!((cell(0, "misses"), cell(2, "agent_ms")), (Some(Field::Long(7)), Some(Field::Null)));
    assert_eq!(
        (cell(0, "unjudged"), cell(1, "unjudged")),
        (Some(Field::Bool(false)), Some(Field::Bool(true)))
    );
    assert_eq!(cell(0, "started"), Some(Field::TimestampMillis(0)));
    let hosts = |row: usize| -> Result<Vec<String>, parquet::errors::ParquetError> {
        let place = rows[row]
            .get_column_iter()
            .position(|(name, _)| name == "refused_hosts")
            .unwrap_or(usize::MAX);
        let list = rows[row].get_list(place)?;
        Ok(list.elements().iter().map(|item| item.to_string().replace('"', "")).collect())
    };
    assert_eq!(
        (hosts(0)?, hosts(1)?),
        (vec!["a.test".to_owned(), "b.test".to_owned()], Vec::new())
    );
    Ok(())
}

#[test]
fn what_is_there_stays_and_what_fails_leaves_nothing() -> Tested {
    let (temporary, path) = run()?;
    let file = Utf8PathBuf::try_from(temporary.path().join("kept.csv"))?;
    std::fs::write(&file, "kept")?;
    let error = table(&path, &file, Format::Csv, false).err();
    assert!(matches!(error, Some(results::Error::Exists { .. })), "{error:?}");
    assert_eq!(std::fs::read_to_string(&file)?, "kept");
    let lost = Utf8PathBuf::try_from(temporary.path().join("no such folder/run.csv"))?;
    let error = table(&path, &lost, Format::Parquet, false).err();
    assert!(matches!(error, Some(results::Error::Write { .. })), "{error:?}");
    let left = temporary.path().read_dir()?.count();
    assert_eq!(left, 2, "the run and the file that was there");
    Ok(())
}
