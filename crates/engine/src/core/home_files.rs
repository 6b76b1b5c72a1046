//! Files and values of a home in PostgreSQL: what each server on one machine reads from its disk.

use std::collections::BTreeMap;

use store::MAX_HOME_FILE_BYTES;

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::record_file::{Record, RecordError};
use crate::core::redact::redact;

/// Name of the value with the hash of the operator's token.
pub(crate) const OPERATOR_HASH: &str = "operatorHash";

/// Files of a home by path.
pub type HomeFiles = BTreeMap<String, Vec<u8>>;

impl Record {
    /// Files of the home.
    pub fn home_files(&self) -> Result<HomeFiles, RecordError> {
        let files = self.store().read(|tx| tx.home_files())?;
        Ok(files.into_iter().map(|file| (file.path, file.body)).collect())
    }

    /// Hash of the operator's token, which all servers of the home know.
    pub fn operator_hash(&self) -> Result<Option<String>, RecordError> {
        Ok(self.store().read(|tx| tx.home_value(OPERATOR_HASH))?)
    }
}

impl Core {
    /// Replaces the files of the home, all of them at once. What is no longer among them is deleted.
    pub async fn put_home_files(&self, files: HomeFiles) -> Result<(), ToolError> {
        check_home_files(&files)?;
        let now = self.now();
        self.store
            .write(move |tx| {
                let known = tx.home_files()?;
                for gone in known.iter().filter(|file| !files.contains_key(&file.path)) {
                    tx.home_file_delete(&gone.path)?;
                }
                for (path, body) in &files {
                    if !known.iter().any(|file| file.path == *path && file.body == *body) {
                        tx.home_file_put(path, body, now)?;
                    }
                }
                Ok::<_, ToolError>(())
            })
            .await
    }
}

/// Refuses files that are too large, that lie outside of the home, or that carry a secret: rows are copied to every
/// server and into every backup.
pub fn check_home_files(files: &HomeFiles) -> Result<(), ToolError> {
    for (path, body) in files {
        let is_inside = !path.is_empty()
            && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
            && !path.contains(['\\', '\0']);
        if !is_inside {
            return Err(ToolError::invalid(format!("`{path}` is not a path inside of the home")));
        }
        if body.len() > MAX_HOME_FILE_BYTES {
            return Err(ToolError::invalid(format!(
                "`{path}` is {} bytes; the limit is {MAX_HOME_FILE_BYTES}",
                body.len()
            )));
        }
        let text = String::from_utf8_lossy(body);
        let line = text.lines().position(|line| redact(line.to_owned()) != line);
        if let Some(line) = line {
            return Err(ToolError::invalid(format!(
                "`{path}`, line {}, carries a secret, and every server and backup of the home would have it",
                line + 1
            ))
            .hint("put the secret into the environment of the servers, and name the variable"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, body: &str) -> Option<String> {
        let files = HomeFiles::from([(path.to_owned(), body.as_bytes().to_vec())]);
        check_home_files(&files).err().map(|error| error.message)
    }

    #[test]
    fn only_files_inside_of_the_home_and_without_secrets_are_kept() {
        assert_eq!(refused("config.yaml", "mirror: false\n"), None);
        assert_eq!(refused("roles/coder.md", "---\nname: coder\n---\n"), None);
        for path in ["", "/etc/passwd", "../x", "roles/../../x", "roles//x", "a\\b", "a\0"] {
            assert!(refused(path, "").is_some_and(|why| why.contains("not a path")), "{path:?}");
        }
        let secret = format!("a: 1\ntoken: ghp_{}\n", "a1B2".repeat(9));
        let why = refused("config.yaml", &secret).unwrap();
        assert!(why.contains("line 2, carries a secret"), "{why}");
        let large = "x".repeat(MAX_HOME_FILE_BYTES + 1);
        assert!(refused("review.md", &large).unwrap().contains("the limit is 4194304"));
    }
}
