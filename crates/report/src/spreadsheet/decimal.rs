//! Numbers as spreadsheets write them: a decimal point or a decimal comma, perhaps with marks between thousands.
//!
//! `71,3` can only be 71.3, and `1.234,5` only 1234.5. But `1,234` is 1.234 where the comma is the decimal mark and 1234 where it
//! separates thousands. Other numbers of the table decide which; where none does, the cell is refused, because a wrong guess is
//! wrong by a factor of a thousand and looks like a result.

/// What separates the integer part of a number from its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

impl DecimalMark {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Point => "decimal point",
            Self::Comma => "decimal comma",
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Comma => "comma",
        }
    }

    pub(super) fn character(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// A cell that can be read as a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numeral {
    /// It has no mark, and means the same everywhere.
    Unmarked(f64),
    /// Its one mark can only be the decimal mark.
    Decimal(DecimalMark, f64),
    /// It has marks between thousands, so that the decimal mark, which it need not have, is this one.
    Grouped(DecimalMark, f64),
    /// Its one mark is this one, and is the decimal mark or stands between thousands.
    Ambiguous {
        mark: DecimalMark,
        /// Its value if the mark is the decimal mark.
        decimal: f64,
        /// Its value if the mark stands between thousands.
        grouped: f64,
    },
}

/// Why a cell is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotNumeral {
    /// It is something else.
    Other,
    /// NaN, infinite, or beyond the largest float.
    NotFinite,
    /// It is a number with a percent sign.
    Percent,
    /// It is a number whose thousands are set apart by spaces or apostrophes.
    Spaced,
}

impl Numeral {
    /// Reads a cell that has no spaces around it and is not blank.
    pub(super) fn read(cell: &str) -> Result<Self, NotNumeral> {
        let text = cell.replace(MINUS, "-");
        dressed_up(&text).map_or(Ok(()), Err)?;
        let (mantissa, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
        let (points, commas) = (mantissa.matches('.').count(), mantissa.matches(',').count());
        let mark = match (points, commas, mantissa.rfind('.') > mantissa.rfind(',')) {
            (0, 0, _) => return finite(&text).map(Self::Unmarked),
            (1, 0, _) => return Self::of_one(&text, DecimalMark::Point, !exponent.is_empty()),
            (0, 1, _) => return Self::of_one(&text, DecimalMark::Comma, !exponent.is_empty()),
            // One mark several times stands between thousands; of both, the last one is the decimal mark.
            (0, _, _) | (1, _, true) => DecimalMark::Point,
            (_, 0, _) | (_, 1, false) => DecimalMark::Comma,
            _ => return Err(NotNumeral::Other),
        };
        grouped(&text, mark).map(|value| Self::Grouped(mark, value))
    }

    /// A number with one mark. Nobody sets apart the thousands of a number that begins with 0 or has an exponent.
    fn of_one(text: &str, mark: DecimalMark, has_exponent: bool) -> Result<Self, NotNumeral> {
        let decimal = finite(&text.replace(mark.character(), "."))?;
        match grouped(text, mark.other()) {
            Ok(grouped) if !has_exponent => Ok(Self::Ambiguous { mark, decimal, grouped }),
            _ => Ok(Self::Decimal(mark, decimal)),
        }
    }
}

/// The minus sign of typesetting.
const MINUS: char = '\u{2212}';

/// What a text is that a person would take for a number, and that is not one of a table.
fn dressed_up(text: &str) -> Option<NotNumeral> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return Some(NotNumeral::NotFinite);
    }
    if let Some(number) = text.strip_suffix('%') {
        return Numeral::read(number.trim_end()).is_ok().then_some(NotNumeral::Percent);
    }
    let joined = text.replace(|c: char| c.is_whitespace() || c == '\'' || c == '\u{2019}', "");
    (joined.len() < text.len() && Numeral::read(&joined).is_ok()).then_some(NotNumeral::Spaced)
}

/// A number with this decimal mark, and the other mark between all its thousands.
fn grouped(text: &str, mark: DecimalMark) -> Result<f64, NotNumeral> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, _) = unsigned.split_once(mark.character()).unwrap_or((unsigned, ""));
    let between = mark.other().character();
    let mut groups = whole.split(between);
    let first = groups.next().unwrap_or_default();
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    if !begins || !groups.all(is_group) {
        return Err(NotNumeral::Other);
    }
    finite(&text.replace(between, "").replace(mark.character(), "."))
}

/// Digits with at most one point, a sign and an exponent, as a float.
fn finite(text: &str) -> Result<f64, NotNumeral> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(value) if is_plain && value.is_finite() => Ok(value),
        Ok(_) if is_plain => Err(NotNumeral::NotFinite),
        _ => Err(NotNumeral::Other),
    }
}
