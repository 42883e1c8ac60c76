//! Times as the protocol writes and reads them: `createdAt` and the timestamp
//! of a sync item (02 §11).

/// The furthest time from 1970 that ECMAScript's `Date` holds, in milliseconds.
const MAX_TIME_MS: i64 = 8_640_000_000_000_000;

const MS_PER_DAY: i64 = 86_400_000;

/// The timestamp of a version's sync item: `createdAt` in whole seconds since
/// 1970, or 0 when it doesn't parse or isn't positive (05 §2, 02 §11).
pub fn item_timestamp(created_at: &str) -> u64 {
    let Some(ms) = parse_date_time(created_at) else {
        return 0;
    };
    u64::try_from(ms.div_euclid(1000)).unwrap_or(0)
}

/// Reads ECMAScript's date-time string format, and nothing else, as
/// milliseconds since 1970. A time without an offset is UTC (02 §11).
pub fn parse_date_time(text: &str) -> Option<i64> {
    let mut reader = Reader {
        rest: text.as_bytes(),
    };
    let days = reader.date()?;
    let within_day = if reader.take(b'T') {
        reader.time_of_day()?
    } else {
        0
    };
    if !reader.rest.is_empty() {
        return None;
    }
    let ms = days * MS_PER_DAY + within_day;
    (-MAX_TIME_MS..=MAX_TIME_MS).contains(&ms).then_some(ms)
}

/// Whether `text` is a real time exactly as `toISOString` writes one of the
/// years 0000 to 9999: `YYYY-MM-DDTHH:mm:ss.sssZ` (03 §1.1).
pub fn is_iso_string(text: &str) -> bool {
    const FORM: &[u8; 24] = b"dddd-dd-ddTdd:dd:dd.dddZ";
    let bytes = text.as_bytes();
    let has_form = bytes.len() == FORM.len()
        && bytes.iter().zip(FORM).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        });
    // `24:00` is a time to read, but not one that is ever written.
    has_form && bytes.get(11..13) != Some(b"24") && parse_date_time(text).is_some()
}

/// What is left to read of a date-time string.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take(&mut self, byte: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// A number of exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + i64::from(digit - b'0');
        }
        self.rest = rest;
        Some(number)
    }

    /// A number of two digits, no larger than `max`.
    fn two(&mut self, max: i64) -> Option<i64> {
        self.digits(2).filter(|number| *number <= max)
    }

    /// The date, as days since 1970.
    fn date(&mut self) -> Option<i64> {
        let year = self.year()?;
        // A `-` after a year alone begins the month, so one after that begins
        // the day.
        let month = if self.take(b'-') { self.two(12)? } else { 1 };
        let day = if self.take(b'-') { self.two(31)? } else { 1 };
        if month < 1 || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        Some(days_since_1970(year, month, day))
    }

    fn year(&mut self) -> Option<i64> {
        if self.take(b'+') {
            return self.digits(6);
        }
        if self.take(b'-') {
            // `-000000` is none (ECMAScript's own exception).
            return self.digits(6).filter(|year| *year != 0).map(|year| -year);
        }
        self.digits(4)
    }

    /// What follows the `T`, as milliseconds to add to the day's midnight UTC.
    fn time_of_day(&mut self) -> Option<i64> {
        let hour = self.two(24)?;
        if !self.take(b':') {
            return None;
        }
        let minute = self.two(59)?;
        let mut second = 0;
        let mut ms = 0;
        if self.take(b':') {
            second = self.two(59)?;
            if self.take(b'.') {
                ms = self.digits(3)?;
            }
        }
        if hour == 24 && (minute, second, ms) != (0, 0, 0) {
            return None;
        }
        let offset = self.offset_minutes()?;
        Some(((hour * 60 + minute - offset) * 60 + second) * 1000 + ms)
    }

    /// `Z`, `+HH:mm`, `-HH:mm` or nothing, in minutes east of UTC.
    fn offset_minutes(&mut self) -> Option<i64> {
        if self.rest.is_empty() || self.take(b'Z') {
            return Some(0);
        }
        let sign = if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return None;
        };
        let hour = self.two(23)?;
        if !self.take(b':') {
            return None;
        }
        let minute = self.two(59)?;
        Some(sign * (hour * 60 + minute))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the proleptic Gregorian calendar (Howard
/// Hinnant's `days_from_civil`): years begin in March, so that a leap day is
/// the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}
