//! Which version wins, where versions are placed, and lines (02 §4.3, §4.10; 05 §10.1).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use minca_record::content_id::ContentId;
use minca_record::line::Line;
use minca_record::placement::{Form, Placed, RecordRow, place};
use minca_record::version::{LogPlace, supersedes};
use proptest::prelude::*;
use serde_json::Value;
use support::{id, list, section};

#[test]
fn the_current_version_is_the_one_no_other_supersedes() {
    let cases = section("records.json", "winners");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let mut versions: Vec<(u64, ContentId)> = list(case, "versions")
            .iter()
            .map(|version| (version["seq"].as_u64().unwrap(), id(version, "id")))
            .collect();
        versions.sort_by(|a, b| {
            if supersedes(a.0, a.1, b.0, b.1) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        let newest_first: Vec<String> = versions.iter().map(|(_, id)| id.to_string()).collect();
        let expected: Vec<&str> = list(case, "newestFirst")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(newest_first, expected, "{case}");
        assert_eq!(versions[0].1, id(case, "current"));
    }
}

#[test]
fn no_version_supersedes_itself() {
    let own = ContentId::of(b"own");
    assert!(!supersedes(3, own, 3, own));
}

/// One record at a host, kept as [`place`] says.
#[derive(Default)]
struct Record {
    kept: BTreeMap<ContentId, Placed>,
    current: Option<ContentId>,
    first: Option<ContentId>,
    history: BTreeSet<ContentId>,
}

impl Record {
    fn take(&mut self, arriving: Placed) {
        let row = self.current.map(|id| RecordRow {
            current: self.kept[&id],
            first: self.first,
        });
        let held = self.kept.get(&arriving.id).map(|held| held.form);
        let placement = place(row.as_ref(), &arriving, held);
        if let Some(form) = placement.keep {
            assert_ne!(
                held,
                Some(form),
                "a copy is written over one in the same form"
            );
            self.kept.insert(arriving.id, Placed { form, ..arriving });
        }
        if placement.set_current {
            self.current = Some(arriving.id);
        }
        if let Some(id) = placement.drop_body {
            let demoted = self.kept.get_mut(&id).unwrap();
            assert_eq!(demoted.form, Form::Whole);
            demoted.form = Form::Stub;
        }
        if placement.set_first.is_some() {
            self.first = placement.set_first;
        }
        self.history.extend(placement.set_history);
    }

    fn of(copies: &[Placed]) -> Record {
        let mut record = Record::default();
        for copy in copies {
            record.take(*copy);
        }
        record
    }

    fn rows(&self) -> Rows {
        Rows {
            forms: self
                .kept
                .iter()
                .map(|(id, kept)| (*id, kept.form))
                .collect(),
            current: self.current,
            first: self.first,
            history: self.history.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rows {
    forms: BTreeMap<ContentId, Form>,
    current: Option<ContentId>,
    first: Option<ContentId>,
    history: BTreeSet<ContentId>,
}

/// What the rows must be, looking at all the copies at once.
fn model(copies: &[Placed]) -> Rows {
    let current = copies.iter().find(|a| {
        copies
            .iter()
            .all(|b| a.id == b.id || a.seq > b.seq || (a.seq == b.seq && a.id < b.id))
    });
    let came_whole = |id| {
        copies
            .iter()
            .any(|copy| copy.id == id && copy.form == Form::Whole)
    };
    let form = |copy: &Placed| {
        let may_have_body =
            copy.retain || copy.deleted || current.is_some_and(|current| current.id == copy.id);
        if may_have_body && came_whole(copy.id) {
            Form::Whole
        } else {
            Form::Stub
        }
    };
    let is_edited = current.is_some_and(|current| current.seq > 0);
    Rows {
        forms: copies.iter().map(|copy| (copy.id, form(copy))).collect(),
        current: current.map(|current| current.id),
        first: copies
            .iter()
            .filter(|copy| is_edited && copy.seq == 0)
            .map(|copy| copy.id)
            .min(),
        history: copies
            .iter()
            .filter(|copy| copy.retain && current.is_some_and(|current| current.id != copy.id))
            .map(|copy| copy.id)
            .collect(),
    }
}

fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(place, first.clone());
            all.push(longer);
        }
    }
    all
}

#[test]
fn versions_in_any_order_are_kept_the_same() {
    let cases = section("records.json", "placement");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let copies: Vec<Placed> = list(case, "versions")
            .iter()
            .map(|version| {
                let deleted = version["deleted"] == true;
                let whole = deleted || version["body"] == true;
                Placed {
                    id: id(version, "id"),
                    seq: version["seq"].as_u64().unwrap(),
                    retain: version["retain"] == true,
                    deleted,
                    form: if whole { Form::Whole } else { Form::Stub },
                }
            })
            .collect();
        let is_delete = |id: &str| {
            copies
                .iter()
                .any(|copy| copy.deleted && copy.id.to_string() == id)
        };
        for order in orders(&copies) {
            let rows = Record::of(&order).rows();
            assert_eq!(rows.current, Some(id(case, "r")), "{case}");
            assert_eq!(
                rows.first.map(|id| id.to_string()).as_deref(),
                case["g"].as_str()
            );
            let history: Vec<String> = rows.history.iter().map(ContentId::to_string).collect();
            let expected: Vec<&str> = list(case, "h").iter().filter_map(Value::as_str).collect();
            assert_eq!(history, expected, "{case}");
            let forms: BTreeMap<String, &str> = rows
                .forms
                .iter()
                .map(|(id, form)| {
                    let id = id.to_string();
                    let form = match form {
                        Form::Whole if is_delete(&id) => "delete",
                        Form::Whole => "whole",
                        Form::Stub => "stub",
                    };
                    (id, form)
                })
                .collect();
            let expected: BTreeMap<String, &str> = case["kept"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(id, form)| (id.clone(), form.as_str().unwrap()))
                .collect();
            assert_eq!(forms, expected, "{case}");
        }
    }
}

/// Copies of up to eight versions of one record, some whole and some stubs.
fn copies() -> impl Strategy<Value = Vec<Placed>> {
    let version = (any::<u8>(), 0u64..4, any::<bool>(), any::<bool>());
    let copies = proptest::collection::vec(version, 1..8).prop_flat_map(|versions| {
        let count = versions.len();
        let picks = proptest::collection::vec((0..count, any::<bool>()), 1..16);
        (Just(versions), picks)
    });
    copies.prop_map(|(versions, picks)| {
        let copy = |(index, whole): (usize, bool)| {
            let (name, seq, retain, deleted) = versions[index];
            let whole = whole || deleted;
            Placed {
                id: ContentId::of(&[index as u8, name]),
                seq,
                retain,
                deleted,
                form: if whole { Form::Whole } else { Form::Stub },
            }
        };
        picks.into_iter().map(copy).collect()
    })
}

proptest! {
    #[test]
    fn placing_any_copies_in_any_order_gives_the_rows_of_the_whole_set(
        (copies, shuffled) in copies().prop_flat_map(|copies| {
            (Just(copies.clone()), Just(copies).prop_shuffle())
        })
    ) {
        let rows = Record::of(&copies).rows();
        prop_assert_eq!(&rows, &model(&copies));
        prop_assert_eq!(&Record::of(&shuffled).rows(), &rows);
    }

    #[test]
    fn placing_everything_again_changes_nothing(copies in copies()) {
        let mut record = Record::of(&copies);
        let rows = record.rows();
        for copy in &copies {
            record.take(*copy);
        }
        prop_assert_eq!(record.rows(), rows);
    }
}

fn log_of(version: &Value) -> LogPlace {
    let log = &version["log"];
    LogPlace {
        n: log["n"].as_u64().unwrap(),
        prev: log["prev"].as_str().map(|prev| prev.parse().unwrap()),
    }
}

#[test]
fn lines_end_where_they_break_and_show_what_they_lack() {
    let lines = section("records.json", "lines");
    let cases = list(&lines, "cases");
    assert_eq!(cases.len(), 11);
    for case in cases {
        let mut line = Line::new();
        for name in list(case, "held") {
            let version = &lines["versions"][name.as_str().unwrap()];
            line.add(id(version, "id"), log_of(version));
        }
        assert_eq!(line.unbroken_end(), case["end"].as_u64(), "{case}");
        let lacks: Vec<String> = line.lacks().iter().map(ContentId::to_string).collect();
        let mut expected: Vec<&str> = list(case, "lacks")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        expected.sort_unstable();
        assert_eq!(lacks, expected, "{case}");
        let twice: Vec<u64> = line.held_twice().collect();
        let expected: Vec<u64> = list(case, "twice")
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        assert_eq!(twice, expected, "{case}");
    }
}

/// The unbroken line's end, by trying every run from place 0.
fn longest_run(held: &[(ContentId, LogPlace)]) -> Option<u64> {
    fn end_from(held: &[(ContentId, LogPlace)], id: ContentId, n: u64) -> u64 {
        let next = |(_, log): &&(ContentId, LogPlace)| log.n == n + 1 && log.prev == Some(id);
        let ends = held
            .iter()
            .filter(next)
            .map(|(id, log)| end_from(held, *id, log.n));
        ends.max().unwrap_or(n)
    }
    let starts = held.iter().filter(|(_, log)| log.n == 0);
    starts.map(|(id, _)| end_from(held, *id, 0)).max()
}

proptest! {
    #[test]
    fn a_line_ends_where_its_longest_run_from_place_0_does(
        versions in proptest::collection::vec((0u64..6, 0usize..3, 0usize..3), 0..14)
    ) {
        // Up to three versions at each of six places, each naming one of the three before it.
        let name = |n: u64, which: usize| ContentId::of(format!("{n}|{which}").as_bytes());
        let mut held = BTreeMap::new();
        for (n, which, prev) in versions {
            let prev = (n > 0).then(|| name(n.saturating_sub(1), prev));
            held.entry(name(n, which)).or_insert(LogPlace { n, prev });
        }
        let held: Vec<(ContentId, LogPlace)> = held.into_iter().collect();
        let mut line = Line::new();
        for (id, log) in &held {
            line.add(*id, *log);
        }
        prop_assert_eq!(line.unbroken_end(), longest_run(&held));
        let lacks: BTreeSet<ContentId> = held
            .iter()
            .filter_map(|(_, log)| log.prev)
            .filter(|prev| held.iter().all(|(id, _)| id != prev))
            .collect();
        prop_assert_eq!(line.lacks(), lacks);
    }
}
