//! Times as a member writes them. Nothing here reads a clock but [`UnixTime::now`].

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const MS_PER_DAY: u64 = 86_400_000;

/// A moment, in milliseconds since 1970. Shown as ECMAScript's `toISOString` writes it, which is
/// how `createdAt` is written (02 §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixTime {
    milliseconds: u64,
}

impl UnixTime {
    /// The last moment of the year 9999, past which `toISOString` has another form.
    pub const LATEST: UnixTime = UnixTime {
        milliseconds: 253_402_300_799_999,
    };

    /// What the system's clock says; 1970 where it says something earlier.
    pub fn now() -> UnixTime {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        UnixTime::from_milliseconds(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// The moment so many milliseconds after 1970, at most [`LATEST`](Self::LATEST).
    pub fn from_milliseconds(milliseconds: u64) -> UnixTime {
        UnixTime {
            milliseconds: milliseconds.min(UnixTime::LATEST.milliseconds),
        }
    }

    /// Milliseconds since 1970.
    pub fn milliseconds(self) -> u64 {
        self.milliseconds
    }

    /// Whole seconds since 1970.
    pub fn seconds(self) -> u64 {
        self.milliseconds / 1000
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.milliseconds / MS_PER_DAY);
        let within_day = self.milliseconds % MS_PER_DAY;
        let (hour, minute) = (within_day / 3_600_000, within_day / 60_000 % 60);
        let (second, ms) = (within_day / 1000 % 60, within_day % 1000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
        )
    }
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant's `civil_from_days`):
/// years begin in March, so that a leap day is the last of its year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::time::{is_iso_string, parse_date_time};
    use proptest::prelude::*;

    #[test]
    fn known_moments_are_written_as_ecmascript_writes_them() {
        let written = |ms| UnixTime::from_milliseconds(ms).to_string();
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(written(1_790_424_000_000), "2026-09-26T12:00:00.000Z");
        assert_eq!(written(u64::MAX), "9999-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_the_same_moment(ms in 0u64..=253_402_300_799_999) {
            let written = UnixTime::from_milliseconds(ms).to_string();
            prop_assert!(is_iso_string(&written));
            prop_assert_eq!(parse_date_time(&written), i64::try_from(ms).ok());
        }
    }
}
