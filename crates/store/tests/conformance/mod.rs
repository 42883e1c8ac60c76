//! What every kind of store does alike. Each check starts from an empty store.

pub(crate) mod batches;
pub(crate) mod leases;
pub(crate) mod model;
pub(crate) mod random;
pub(crate) mod reading;
pub(crate) mod segments;
pub(crate) mod spaces;

use std::time::Duration;

use minca_record::content_id::ContentId;
use store::{Holder, Lease, NewSpace, Store, TakeLease};

/// Makes a test of every check, against stores that `$new_store` gives.
#[macro_export]
macro_rules! conformance_tests {
    ($new_store:path: $($module:ident::$check:ident,)+) => {
        $(#[tokio::test]
        async fn $check() {
            let fresh = $new_store().await;
            $crate::conformance::$module::$check(&*fresh.store).await;
            fresh.store.close().await;
        })+
    };
    ($new_store:path) => {
        $crate::conformance_tests! { $new_store:
            leases::a_lease_is_one_holders_until_it_is_given_back,
            leases::a_lease_that_ran_out_goes_to_whoever_asks,
            leases::a_lease_that_ran_out_untaken_can_be_prolonged,
            leases::an_old_term_writes_nothing,
            leases::a_lease_given_back_writes_nothing,
            spaces::a_space_is_carried_once_however_often_it_is_asked_for,
            spaces::a_changed_read_key_raises_the_revision,
            spaces::a_space_no_longer_carried_keeps_its_entries,
            spaces::carried_spaces_come_in_pages_by_digest,
            spaces::facts_about_the_host_are_kept_once,
            batches::a_batch_for_a_space_not_held_is_cut_out,
            batches::batches_that_contradict_what_is_held_are_cut_out_and_the_rest_lands,
            batches::a_stub_is_filled_and_a_body_dropped_and_the_bytes_follow,
            batches::batches_of_one_space_in_one_commit_see_each_other,
            batches::spaces_do_not_see_each_others_versions,
            batches::a_read_key_lands_with_its_batch,
            reading::bodies_come_of_what_is_whole,
            batches::a_note_shared_by_versions_comes_back_with_each,
            reading::what_is_not_held_is_absent,
            reading::a_record_brings_its_current_version_along,
            reading::versions_come_in_the_order_asked_up_to_a_size,
            reading::items_come_in_pages_in_syncs_order,
            reading::opening_gives_the_access_versions_whole,
            random::random_batches_give_what_the_model_gives,
            random::runs_are_cut_when_they_grow_at_the_end_at_the_front_or_inside,
            random::readers_see_whole_commits_and_only_those,
            random::a_commit_that_nobody_waits_for_lands_whole_or_not_at_all,
            segments::what_is_written_waits_for_a_segment_until_one_is_recorded,
            segments::a_version_filled_while_its_segment_was_on_its_way_waits_for_another,
            segments::a_dropped_body_needs_no_new_segment,
            segments::spaces_wait_for_segments_oldest_first,
            segments::each_term_has_a_store_writer_of_its_own,
            segments::a_segment_recorded_twice_is_recorded_once,
            segments::what_was_never_held_has_nothing_to_write_about,
        }
    };
}

/// Long enough to outlast any test.
pub(crate) const AN_HOUR: Duration = Duration::from_secs(3600);

/// A holder by a number.
pub(crate) fn holder(number: u8) -> Holder {
    Holder([number; 16])
}

/// The lease of the shard of `space`, for an hour.
pub(crate) async fn lease_for(store: &dyn Store, space: ContentId) -> Lease {
    lease_by(store, space, holder(1)).await
}

/// As [`lease_for`], for a holder.
pub(crate) async fn lease_by(store: &dyn Store, space: ContentId, holder: Holder) -> Lease {
    let taken = store
        .take_lease(store.shard_of(&space), holder, AN_HOUR)
        .await
        .unwrap();
    let TakeLease::Taken(lease) = taken else {
        panic!("the lease is another's");
    };
    lease
}

/// A space's id by a number.
pub(crate) fn space(number: u32) -> ContentId {
    ContentId::of(format!("space {number}").as_bytes())
}

/// A space to carry by a number.
pub(crate) fn new_space(number: u32) -> NewSpace {
    NewSpace {
        space: space(number),
        constitution: format!("{{\"name\":\"space {number}\"}}").into_bytes(),
        read_key: None,
    }
}

/// Carries a space; its id and a lease to write it under.
pub(crate) async fn carry(store: &dyn Store, number: u32) -> (ContentId, Lease) {
    let lease = lease_for(store, space(number)).await;
    store.carry(&lease, &new_space(number)).await.unwrap();
    (space(number), lease)
}
