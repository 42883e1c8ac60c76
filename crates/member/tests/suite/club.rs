//! A space with a few people in it, each with a folder, and a host for it.

use std::path::PathBuf;

use crate::running::{error, lines, ok, text};
use crate::support::{Host, Manner};
use member::folder::MemberFolder;
use minca_record::json::Object;
use tempfile::TempDir;

/// People with a folder each, of whom the first founded a space, and a host for it.
pub(crate) struct Club {
    pub(crate) temporary: TempDir,
    pub(crate) host: Host,
    pub(crate) people: Vec<PathBuf>,
}

impl Club {
    pub(crate) async fn found(arguments: &[&str]) -> Club {
        let temporary = tempfile::tempdir().unwrap();
        let first = temporary.path().join("0");
        ok(&first, &["init"]).await;
        ok(&first, &[&["found", "Club"], arguments].concat()).await;
        let space = MemberFolder::open(&first).unwrap().spaces().unwrap();
        let space = space[0].space.as_handed_around();
        let host = Host::start(space, Manner::Well).await;
        ok(&first, &["sync", "--node", &host.url()]).await;
        Club {
            temporary,
            host,
            people: vec![first],
        }
    }

    pub(crate) async fn run(&self, who: usize, arguments: &[&str]) -> String {
        ok(&self.people[who], arguments).await
    }

    pub(crate) async fn refused(&self, who: usize, arguments: &[&str]) -> String {
        error(&self.people[who], arguments).await
    }

    pub(crate) async fn sync(&self, who: &[usize]) -> String {
        let mut told = String::new();
        for who in who {
            told += &self.run(*who, &["sync"]).await;
        }
        told
    }

    /// An invite to a role.
    pub(crate) async fn invite(&self, by: usize, role: &str) -> (String, String) {
        let opened = self.run(by, &["invite", "open", role, "--json"]).await;
        let opened = &lines(&opened)[0];
        let told = |name| text(opened, name).to_owned();
        (told("invite"), told("key"))
    }

    /// Somebody new joins by an invite.
    pub(crate) async fn joins(&mut self, invite: &str) -> usize {
        let folder = self.temporary.path().join(self.people.len().to_string());
        ok(&folder, &["join", invite]).await;
        self.people.push(folder);
        self.people.len() - 1
    }

    /// Somebody new holds a role.
    pub(crate) async fn with_role(&mut self, role: &str) -> usize {
        let (invite, _) = self.invite(0, role).await;
        self.sync(&[0]).await;
        let who = self.joins(&invite).await;
        assert!(
            self.sync(&[who])
                .await
                .contains(&format!("Joined as {role}"))
        );
        self.sync(&[0]).await;
        who
    }

    pub(crate) async fn access(&self, who: usize) -> Object {
        lines(&self.run(who, &["access", "--json"]).await).remove(0)
    }

    pub(crate) fn account(&self, who: usize) -> String {
        let folder = MemberFolder::open(&self.people[who]).unwrap();
        folder.account().did().to_string()
    }

    pub(crate) fn device(&self, who: usize) -> String {
        let folder = MemberFolder::open(&self.people[who]).unwrap();
        folder.device().did().to_string()
    }

    /// The texts of notes, sorted; `None` for one that can't be read.
    pub(crate) async fn notes(&self, who: usize) -> Vec<Option<String>> {
        let listed = self.run(who, &["list", "app.note", "--json"]).await;
        let listed = lines(&listed).into_iter();
        let body = |record: Object| Some(record.get("body")?.as_str()?.to_owned());
        let mut notes: Vec<Option<String>> = listed.map(body).collect();
        notes.sort();
        notes
    }

    pub(crate) async fn note(&self, who: usize, note: &str) {
        let body = format!("\"{note}\"");
        self.run(who, &["write", "app.note", &body]).await;
    }
}
