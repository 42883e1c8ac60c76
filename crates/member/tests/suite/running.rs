//! Running the commands as a person does.

use std::path::Path;

use clap::Parser;
use member::commands::{MemberArgs, run};
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    member: MemberArgs,
}

async fn try_run(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let folder = folder.to_str().unwrap();
    let line = ["member", "--folder", folder]
        .into_iter()
        .chain(arguments.iter().copied());
    let mut out = Vec::new();
    run(Cli::try_parse_from(line)?.member, &mut out).await?;
    Ok(String::from_utf8(out)?)
}

pub(crate) async fn ok(folder: &Path, arguments: &[&str]) -> String {
    let ran = try_run(folder, arguments).await;
    ran.unwrap_or_else(|error| panic!("{arguments:?}: {error:#}"))
}

pub(crate) async fn error(folder: &Path, arguments: &[&str]) -> String {
    let ran = try_run(folder, arguments).await;
    format!(
        "{:#}",
        ran.err()
            .unwrap_or_else(|| panic!("{arguments:?} went through"))
    )
}

pub(crate) fn lines(json: &str) -> Vec<Object> {
    let line = |line: &str| {
        read(line.as_bytes(), MESSAGE_DEPTH)
            .unwrap()
            .into_object()
            .unwrap()
    };
    json.lines().map(line).collect()
}

pub(crate) fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap()
}

#[test]
fn the_commands_are_put_together_as_clap_wants_them() {
    <Cli as clap::CommandFactory>::command().debug_assert();
}
