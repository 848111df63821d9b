//! Changes to files and databases below a running application, as no user could make them.

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;
use sites::Site;

use crate::Outcome;

/// Spoils all that the manifest declares.
pub(crate) fn state(state: &Utf8Path, site: &Site, episode: usize) -> Outcome<()> {
    for path in &site.state.sqlite {
        database(&state.join(path.strip_prefix("/state")?), episode)?;
    }
    for path in &site.state.trees {
        tree(&state.join(path.strip_prefix("/state")?), episode)?;
    }
    Ok(())
}

fn database(path: &Utf8Path, episode: usize) -> Outcome<()> {
    let live = Connection::open(path)?;
    live.busy_timeout(Duration::from_secs(10))?;
    live.execute_batch("PRAGMA foreign_keys = OFF")?;
    let list = "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'";
    let tables: Vec<String> =
        live.prepare(list)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for (at, table) in tables.iter().enumerate() {
        // Half of some tables goes; tables without row ids are left.
        if (at + episode).is_multiple_of(3) {
            let _ = live.execute(&format!("delete from \"{table}\" where rowid % 2 = 0"), []);
        }
    }
    live.execute_batch(&format!(
        "create table spoiled_{episode}(x); insert into spoiled_{episode} values (randomblob({}))",
        1 + episode * 7919 % 500_000
    ))?;
    Ok(())
}

fn tree(tree: &Utf8Path, episode: usize) -> Outcome<()> {
    fs::create_dir_all(tree.join("added/deep"))?;
    fs::write(tree.join("added/deep/file"), episode.to_string())?;
    let mut files = Vec::new();
    collect(tree, &mut files)?;
    for (at, file) in files.iter().enumerate() {
        match (at + episode) % 5 {
            0 => fs::remove_file(file)?,
            1 => fs::write(file, "spoiled")?,
            _ => {}
        }
    }
    Ok(())
}

fn collect(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> Outcome<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => collect(entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.into_path()),
            _ => {}
        }
    }
    Ok(())
}
