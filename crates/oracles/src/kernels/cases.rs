//! What a kernel is asked, and the name that asks it again.
//!
//! A case and the contract of the kernel determine every byte of the inputs, so its name replays it:
//! `matmul/Q4_K/exact/r17-k768-c3-pad1-scales.normal/7` is operation, type, tier, shape, seed. [`Case`] prints
//! a name in one form only and reads no other.

use std::fmt;
use std::str::FromStr;

use gguf_spec::kernel::Operation;
use gguf_spec::kernel::contract::FORMS;
use gguf_spec::types::TensorType;

/// How sharply a result can be judged, because of what the inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// There is one right string of bits: decoding, and nothing is added up.
    Bits,
    /// Nothing can be rounded, in whatever order it is added up: there is one right result.
    Exact,
    /// Activations survive the contract's form unchanged: only additions, and weights held in a smaller form,
    /// are rounded.
    Lossless,
    /// Ordinary data: what rounding the activations may do is allowed, and no more than is likely.
    Ordinary,
}

/// What the scales of the weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScaleClass {
    /// Of middling size.
    Normal,
    /// Zero in half of the blocks.
    Zero,
    /// The smallest normal number of their kind.
    Smallest,
    /// Subnormal numbers of their kind, as far as it has any.
    Subnormal,
    /// The largest number of their kind, as far as products stay finite.
    Largest,
    /// Large in one block and small in the next.
    Mixed,
    /// Of middling size, under codes that are all at one end of their range, row by row.
    Ends,
    /// Any bits, so also infinite and NaN.
    Any,
    /// Every edge of the type in turn.
    Edges,
}

/// What the activations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivationClass {
    /// Around zero, of size one.
    Normal,
    /// The second half of the blocks takes back what the first half gave, but for a little.
    Cancelling,
    /// All positive and around four thousand: the sum of 32 is beyond binary16, each of them is not. In the
    /// first column only.
    Large,
    /// Around a hundred thousand: each is beyond binary16. In the first column only.
    Huge,
    /// Around 2^-18: as the scale of a block, subnormal in binary16.
    Tiny,
    /// Zero in half of the runs of 32, and in all of the first column.
    Zero,
    /// All the same, so that every code is the largest: positive in one column, negative in the next.
    Ends,
}

macro_rules! named {
    ($kind:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in names of cases.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The one of this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(super) use named;

named!(Tier: Bits = "bits", Exact = "exact", Lossless = "lossless", Ordinary = "ordinary");
named!(ScaleClass: Normal = "normal", Zero = "zero", Smallest = "smallest", Subnormal = "subnormal",
    Largest = "largest", Mixed = "mixed", Ends = "ends", Any = "any", Edges = "edges");
named!(ActivationClass: Normal = "normal", Cancelling = "cancelling", Large = "large", Huge = "huge",
    Tiny = "tiny", Zero = "zero", Ends = "ends");

/// What a kernel is asked.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it has to do.
    pub operation: Operation,
    /// The type of the weights; of [`Operation::QuantizeRow`], the type of the blocks it makes.
    pub ty: &'static TensorType,
    /// How it is judged.
    pub tier: Tier,
    /// Rows of the matrix, of every expert.
    pub rows: usize,
    /// Weights a row.
    pub k: usize,
    /// Columns; of [`Operation::MatmulId`], tokens; of [`Operation::GetRows`], rows that are asked for.
    pub columns: usize,
    /// Unused bytes after each row, in blocks of the type. They hold NaN scales, so that who reads them is seen.
    pub row_padding: usize,
    /// Unused elements after each column of activations and of results. They hold NaN and a canary.
    pub column_padding: usize,
    /// Experts, of [`Operation::MatmulId`]; else 0.
    pub experts: usize,
    /// Experts a token, of [`Operation::MatmulId`]; else 0.
    pub used: usize,
    /// Whether each pair of token and expert has a column of its own, as behind the first of two products with
    /// experts.
    pub paired: bool,
    /// Threads that may be used.
    pub threads: usize,
    /// Whether the same call comes again with other data in the same memory.
    pub again: bool,
    /// The scales of the weights.
    pub scales: ScaleClass,
    /// The activations.
    pub activations: ActivationClass,
    /// What all else is drawn from.
    pub seed: u64,
}

impl Case {
    /// A case of one row, one block and one column, without anything unusual.
    #[must_use]
    pub fn new(operation: Operation, ty: &'static TensorType, tier: Tier, seed: u64) -> Self {
        Self {
            operation,
            ty,
            tier,
            rows: 1,
            k: block(ty),
            columns: 1,
            row_padding: 0,
            column_padding: 0,
            experts: 0,
            used: 0,
            paired: false,
            threads: 1,
            again: false,
            scales: ScaleClass::Normal,
            activations: ActivationClass::Normal,
            seed,
        }
    }

    /// How many columns the kernel computes: pairs of token and expert, of [`Operation::MatmulId`].
    #[must_use]
    pub fn results(&self) -> usize {
        if self.operation == Operation::MatmulId { self.columns * self.used } else { self.columns }
    }

    /// How many columns of activations there are.
    #[must_use]
    pub fn inputs(&self) -> usize {
        if self.paired { self.results() } else { self.columns }
    }

    /// The numbers of the shape, without the seed.
    fn shape(&self) -> Shape<'_> {
        Shape(self)
    }
}

/// Weights a block.
pub(super) fn block(ty: &TensorType) -> usize {
    usize::try_from(ty.block).unwrap_or(0)
}

/// Bytes a block.
pub(super) fn block_bytes(ty: &TensorType) -> usize {
    usize::try_from(ty.bytes).unwrap_or(0)
}

/// Names are equal exactly when cases are.
impl PartialEq for Case {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Case {}

struct Shape<'a>(&'a Case);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = self.0;
        write!(f, "r{}-k{}-c{}", case.rows, case.k, case.columns)?;
        for (letter, number, usual) in [
            ("pad", case.row_padding, 0),
            ("gap", case.column_padding, 0),
            ("e", case.experts, 0),
            ("u", case.used, 0),
            ("t", case.threads, 1),
        ] {
            if number != usual {
                write!(f, "-{letter}{number}")?;
            }
        }
        for (word, given) in [("paired", case.paired), ("again", case.again)] {
            if given {
                write!(f, "-{word}")?;
            }
        }
        write!(f, "-scales.{}", case.scales)?;
        if case.activations != ActivationClass::Normal {
            write!(f, "-acts.{}", case.activations)?;
        }
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}/{}", self.operation, self.ty.name, self.tier, self.shape(), self.seed)
    }
}

/// Why a text is not the name of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// The text.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "case {:?}: {}; a name looks like matmul/Q4_K/exact/r17-k768-c3-scales.normal/7",
            self.name, self.reason
        )
    }
}

impl std::error::Error for NameError {}

impl FromStr for Case {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let fail = |reason: String| NameError { name: name.to_owned(), reason };
        let case = parse(name).map_err(fail)?;
        // One case has one name, so that names can be compared and counted.
        match case.to_string() {
            canonical if canonical == name => Ok(case),
            canonical => Err(fail(format!("it is written {canonical}"))),
        }
    }
}

fn parse(name: &str) -> Result<Case, String> {
    let parts: Vec<&str> = name.split('/').collect();
    let [operation, ty, tier, shape, seed] = parts[..] else {
        return Err(format!("expected five parts between slashes, found {}", parts.len()));
    };
    let operation = Operation::from_name(operation).ok_or_else(|| format!("no operation is called {operation:?}"))?;
    let ty = TensorType::from_name(ty)
        .filter(|ty| ty.has_layout())
        .ok_or_else(|| format!("no tensor type with a layout is called {ty:?}"))?;
    let tier = Tier::from_name(tier).ok_or_else(|| format!("no tier is called {tier:?}"))?;
    let seed = seed.parse().map_err(|_| format!("seed: expected a number, found {seed:?}"))?;
    let mut case = Case { rows: 0, k: 0, columns: 0, ..Case::new(operation, ty, tier, seed) };
    for word in shape.split('-') {
        parse_word(&mut case, word)?;
    }
    valid(&case)?;
    Ok(case)
}

fn parse_word(case: &mut Case, word: &str) -> Result<(), String> {
    match word {
        "paired" => case.paired = true,
        "again" => case.again = true,
        _ => return parse_class(case, word),
    }
    Ok(())
}

fn parse_class(case: &mut Case, word: &str) -> Result<(), String> {
    if let Some(class) = word.strip_prefix("scales.") {
        case.scales = ScaleClass::from_name(class).ok_or_else(|| format!("no scales are called {class:?}"))?;
        return Ok(());
    }
    if let Some(class) = word.strip_prefix("acts.") {
        case.activations =
            ActivationClass::from_name(class).ok_or_else(|| format!("no activations are called {class:?}"))?;
        return Ok(());
    }
    let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (letter, number) = word.split_at(digits);
    let field = match letter {
        "r" => &mut case.rows,
        "k" => &mut case.k,
        "c" => &mut case.columns,
        "pad" => &mut case.row_padding,
        "gap" => &mut case.column_padding,
        "e" => &mut case.experts,
        "u" => &mut case.used,
        "t" => &mut case.threads,
        _ => return Err(format!("{word:?} is no part of a shape")),
    };
    *field = number.parse().map_err(|_| format!("{letter}: expected a number, found {number:?}"))?;
    Ok(())
}

/// The most elements that a case may have, in weights, activations or results: what a name can ask for is bounded.
const MOST: usize = 1 << 22;

/// The most products that a case may have.
const MOST_PRODUCTS: usize = 1 << 28;

/// Whether products with weights of a type are asked for. The wide numbers are stored beside weights, not
/// multiplied with activations.
pub(super) fn multiplied(ty: &TensorType) -> bool {
    ty.quantized || matches!(ty.name, "F32" | "F16" | "BF16")
}

/// Whether activations are held in blocks of a type.
pub(super) fn holds_activations(ty: &TensorType) -> bool {
    FORMS.iter().any(|row| row.blocks == Some(ty.name))
}

/// The tiers in which an operation with a type can be judged: where nothing is added up there is one string of bits.
/// Empty if the operation is not asked of the type.
#[must_use]
pub fn tiers(operation: Operation, ty: &TensorType) -> &'static [Tier] {
    match operation {
        Operation::Dequantize | Operation::GetRows => &[Tier::Bits],
        Operation::QuantizeRow if holds_activations(ty) => &[Tier::Exact, Tier::Ordinary],
        Operation::Dot | Operation::Matmul | Operation::MatmulId if multiplied(ty) => {
            &[Tier::Exact, Tier::Lossless, Tier::Ordinary]
        }
        Operation::QuantizeRow | Operation::Dot | Operation::Matmul | Operation::MatmulId => &[],
    }
}

fn judged(case: &Case) -> Result<(), String> {
    let tiers = tiers(case.operation, case.ty);
    if tiers.is_empty() {
        return Err(format!("{}: is not asked of {}", case.operation, case.ty.name));
    }
    if !tiers.contains(&case.tier) {
        let known: Vec<_> = tiers.iter().map(|tier| tier.name()).collect();
        return Err(format!("{}: expected the tier {}, found {}", case.operation, known.join(" or "), case.tier));
    }
    Ok(())
}

fn valid(case: &Case) -> Result<(), String> {
    let block = block(case.ty);
    if case.k == 0 || !case.k.is_multiple_of(block) {
        return Err(format!("k: expected a multiple of {block} for {}, found {}", case.ty.name, case.k));
    }
    let positive = [("r", case.rows), ("c", case.columns), ("t", case.threads)];
    if let Some((letter, _)) = positive.iter().find(|(_, number)| *number == 0) {
        return Err(format!("{letter}: expected at least 1"));
    }
    let product = |factors: &[usize]| factors.iter().try_fold(1_usize, |n, &factor| n.checked_mul(factor));
    let width = case.k.saturating_add(case.row_padding.saturating_mul(block));
    let sizes = [
        product(&[case.rows, width, case.experts.max(1)]),
        product(&[case.columns.saturating_mul(case.used.max(1)), case.rows.saturating_add(case.column_padding)]),
        product(&[case.columns, case.k.saturating_add(case.column_padding)]),
    ];
    if sizes.iter().any(|size| size.is_none_or(|size| size > MOST)) {
        return Err(format!("expected at most {MOST} weights, activations and results each"));
    }
    if product(&[case.rows, case.k, case.results().max(1)]).is_none_or(|products| products > MOST_PRODUCTS) {
        return Err(format!("expected at most {MOST_PRODUCTS} products"));
    }
    judged(case)?;
    match (case.operation == Operation::MatmulId, case.experts, case.used) {
        (true, 1.., 1..) => Ok(()),
        (false, 0, 0) if !case.paired => Ok(()),
        (true, ..) => Err("matmul-id: expected experts (e) and experts a token (u)".to_owned()),
        (false, ..) => Err(format!("{}: has no experts", case.operation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_wrong_with_it() {
        let reason = |name: &str| name.parse::<Case>().unwrap_err().reason;
        assert_eq!(reason("matmul/Q4_K"), "expected five parts between slashes, found 2");
        assert_eq!(reason("mul/Q4_K/exact/r1-k256-c1-scales.normal/1"), "no operation is called \"mul\"");
        assert_eq!(
            reason("matmul/Q4_2/exact/r1-k256-c1-scales.normal/1"),
            "no tensor type with a layout is called \"Q4_2\""
        );
        assert_eq!(
            reason("matmul/Q4_K/exact/r1-k32-c1-scales.normal/1"),
            "k: expected a multiple of 256 for Q4_K, found 32"
        );
        assert_eq!(reason("matmul/Q4_K/exact/r1-k256-c1-x9-scales.normal/1"), "\"x9\" is no part of a shape");
        assert_eq!(reason("matmul/Q4_K/exact/r1-k256-scales.normal/1"), "c: expected at least 1");
        assert_eq!(
            reason("matmul/Q4_K/exact/c1-k256-r1-scales.normal/01"),
            "it is written matmul/Q4_K/exact/r1-k256-c1-scales.normal/1"
        );
        assert_eq!(
            reason("matmul/Q4_K/exact/r9999999-k25600-c1-scales.normal/1"),
            "expected at most 4194304 weights, activations and results each"
        );
        assert_eq!(
            reason("matmul/Q4_K/exact/r4096-k1024-c1024-scales.normal/1"),
            "expected at most 268435456 products"
        );
        assert_eq!(
            reason("matmul/Q4_K/bits/r4-k256-c4-scales.edges/1"),
            "matmul: expected the tier exact or lossless or ordinary, found bits"
        );
        assert_eq!(reason("matmul/F64/exact/r4-k256-c4-scales.normal/1"), "matmul: is not asked of F64");
    }
}
