//! The least file that still does something: what a person has to look at.
//!
//! A file is made smaller on its tree first, so that what stays is a file: pairs, tensors, elements and
//! bytes are dropped, half of them at a time, then one by one; numbers move to the nearest boundary
//! below. Every step is tried twice, with counts, offsets and padding made true again, and without.
//! What the tree cannot do is done on bytes at the end.

use std::cmp::Reverse;

use super::build::{lay_out, pad_to_data};
use super::mutate::recount;
use crate::binary::{decode, encode};
use crate::syntax::{Array, ByteOrder, Elements, RawString, Tree, Value};

/// Makes a file smaller while `keeps` says that it still does what it did, in at most `tries` questions and
/// in time linear in their number and in the size of the file.
///
/// `keeps` must answer the same when it is asked the same. The result is the file itself if `keeps` says
/// no to everything else. Of two files of one length the one with more zero bytes is the smaller one.
#[must_use]
pub fn minimized(bytes: &[u8], tries: usize, keeps: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut search = Search { best: bytes.to_vec(), left: tries, edits: tries.saturating_mul(EDITS_PER_TRY), keeps };
    loop {
        let before = search.best.clone();
        search.drop_entries();
        search.shorten();
        search.renumber();
        if search.best == before || search.left == 0 || search.edits == 0 {
            break;
        }
    }
    search.drop_bytes();
    search.best
}

/// Edits for each question, at most: most edits make nothing smaller and ask nothing.
const EDITS_PER_TRY: usize = 8;

struct Search<'k> {
    best: Vec<u8>,
    /// Questions that may still be asked, and edits that may still be made.
    left: usize,
    edits: usize,
    keeps: &'k mut dyn FnMut(&[u8]) -> bool,
}

/// Smaller is: shorter; then, more zeros; then, the less as bytes.
fn weight(bytes: &[u8]) -> (usize, Reverse<usize>, &[u8]) {
    (bytes.len(), Reverse(bytes.iter().filter(|b| **b == 0).count()), bytes)
}

impl Search<'_> {
    /// Whether this file is smaller and still does it; then it is the best.
    fn take(&mut self, bytes: Vec<u8>) -> bool {
        if self.left == 0 || weight(&bytes) >= weight(&self.best) {
            return false;
        }
        self.left -= 1;
        let keeps = (self.keeps)(&bytes);
        if keeps {
            self.best = bytes;
        }
        keeps
    }

    fn tree(&self) -> Option<Tree<'static>> {
        decode(&self.best).tree.map(Tree::into_owned)
    }

    /// Tries an edit of the best file: with everything made true afterwards, with counts and layout but
    /// for what was wrong before, with counts and the padding before the data, with counts alone, as it is.
    fn edit(&mut self, edit: &dyn Fn(&mut Tree<'static>)) -> bool {
        // Making candidates takes time even where none is smaller: edits are bounded, too.
        if self.left == 0 || self.edits == 0 {
            return false;
        }
        self.edits -= 1;
        let Some(before) = self.tree() else { return false };
        let mut after = before.clone();
        edit(&mut after);
        if after == before {
            return false;
        }
        let counted = {
            let mut tree = after.clone();
            follow(&before, &mut tree);
            tree
        };
        let laid_out = |tree: &Tree<'static>| {
            let mut tree = tree.clone();
            lay_out(&mut tree, 1, self.best.len() as u128);
            tree
        };
        let padded = {
            let mut tree = counted.clone();
            pad_to_data(&mut tree);
            tree
        };
        let moved = {
            let mut tree = laid_out(&counted);
            keep_distances(&before, &laid_out(&before), &mut tree);
            tree
        };
        let candidates = [laid_out(&counted), moved, padded, counted, after];
        candidates.into_iter().any(|tree| self.take(encode(&tree)))
    }

    /// Drops pairs and tensors, many at a time first.
    fn drop_entries(&mut self) {
        self.drop_some(&|tree| tree.metadata.len(), &|tree, i, n| drop(tree.metadata.drain(i..i + n)));
        self.drop_some(&|tree| tree.tensors.len(), &|tree, i, n| drop(tree.tensors.drain(i..i + n)));
        self.drop_some(&|tree| tree.rest.len(), &|tree, i, n| drop(tree.rest.to_mut().drain(i..i + n)));
        self.drop_some(&|tree| tree.padding.len(), &|tree, i, n| drop(tree.padding.drain(i..i + n)));
        let mut i = 0;
        while self.left > 0 && self.edits > 0 && self.tree().is_some_and(|tree| i < tree.metadata.len()) {
            self.drop_some(&|tree| elements_len(tree, i), &|tree, at, n| drop_elements(tree, i, at, n));
            self.edit(&|tree| unnest(tree, i));
            i += 1;
        }
    }

    /// Drops parts of something that has a length: all of it, halves, quarters, down to one, from the end.
    fn drop_some(&mut self, len: &dyn Fn(&Tree<'static>) -> usize, remove: &dyn Fn(&mut Tree<'static>, usize, usize)) {
        let Some(mut now) = self.tree().map(|tree| len(&tree)) else { return };
        let mut size = now;
        while size > 0 && self.left > 0 && self.edits > 0 {
            let mut end = now;
            while end >= size && self.left > 0 && self.edits > 0 {
                let start = end - size;
                if self.edit(&|tree| {
                    if start + size <= len(tree) {
                        remove(tree, start, size);
                    }
                }) {
                    now = self.tree().map_or(0, |tree| len(&tree));
                }
                end = start.min(now);
            }
            size /= 2;
        }
    }

    /// Makes strings shorter.
    fn shorten(&mut self) {
        for i in 0..self.tree().map_or(0, |tree| strings(&mut tree.clone()).len()) {
            if self.left == 0 || self.edits == 0 {
                return;
            }
            self.drop_some(
                &|tree| strings(&mut tree.clone()).get(i).map_or(0, |string| string.bytes.len()),
                &|tree, at, n| {
                    if let Some(string) = strings(tree).get_mut(i) {
                        string.bytes.drain(at..at + n);
                    }
                },
            );
        }
    }

    /// Moves numbers to the nearest boundary below at which it still holds.
    fn renumber(&mut self) {
        let count = |tree: &Tree<'static>| numbers(&mut tree.clone(), &mut |_, _| {});
        for i in 0..self.tree().map_or(0, |tree| count(&tree)) {
            if self.left == 0 || self.edits == 0 {
                return;
            }
            let Some(mut tree) = self.tree() else { return };
            let mut old = 0;
            numbers(&mut tree, &mut |j, n| {
                if i == j {
                    old = *n;
                }
            });
            for new in below(old) {
                let set = |tree: &mut Tree<'static>| {
                    numbers(tree, &mut |j, n| {
                        if i == j {
                            *n = new;
                        }
                    });
                };
                if self.edit(&set) {
                    break;
                }
            }
        }
    }

    /// Drops bytes, and makes bytes zero, wherever they are.
    fn drop_bytes(&mut self) {
        let mut size = self.best.len().div_ceil(2);
        while size > 0 && self.left > 0 {
            let mut end = self.best.len();
            while end >= size && self.left > 0 {
                let start = end - size;
                let mut shorter = self.best.clone();
                shorter.drain(start..end);
                if !self.take(shorter) {
                    let mut zeros = self.best.clone();
                    zeros[start..end].fill(0);
                    self.take(zeros);
                }
                end = start.min(self.best.len());
            }
            size /= 2;
        }
    }
}

/// Numbers to try in the place of one, the simplest first: 0, 1, powers of two and their neighbours, in
/// rising order, each below it.
fn below(old: u64) -> impl Iterator<Item = u64> {
    let mut list: Vec<u64> = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
    list.push(u64::MAX);
    list.sort_unstable();
    list.dedup();
    list.into_iter().filter(move |new| *new < old)
}

/// Makes those counts true that were true before.
fn follow(before: &Tree<'static>, after: &mut Tree<'static>) {
    let mut right = after.clone();
    recount(&mut right);
    if before.kv_count == before.metadata.len() as u64 {
        after.kv_count = right.kv_count;
    }
    if before.tensor_count == before.tensors.len() as u64 {
        after.tensor_count = right.tensor_count;
    }
    // Entries were dropped or changed in place: what is the same comes in the same order.
    let mut old = before.metadata.iter();
    for (pair, right) in after.metadata.iter_mut().zip(right.metadata) {
        // A length that is not true is the point of a file; such an entry stands in the file unchanged.
        if !comes(&mut old, pair) {
            pair.key.len = right.key.len;
            pair.value = right.value;
        }
    }
    let mut old = before.tensors.iter();
    for (tensor, right) in after.tensors.iter_mut().zip(right.tensors) {
        if !comes(&mut old, tensor) {
            tensor.name.len = right.name.len;
        }
    }
}

/// Whether an entry comes in the rest of a list, which then goes on behind it.
fn comes<T: PartialEq>(rest: &mut std::slice::Iter<'_, T>, wanted: &T) -> bool {
    let mut ahead = rest.clone();
    let found = ahead.any(|entry| entry == wanted);
    if found {
        *rest = ahead;
    }
    found
}

/// Moves the tensors of a file whose layout is right by as much as those of the file it was made from are
/// away from where they should be; so much longer or shorter is its data, too.
fn keep_distances(before: &Tree<'static>, right: &Tree<'static>, after: &mut Tree<'static>) {
    let mut rest = before.tensors.iter().zip(&right.tensors);
    for tensor in &mut after.tensors {
        let mut ahead = rest.clone();
        if let Some((old, right)) = ahead.find(|(old, _)| old.name == tensor.name) {
            rest = ahead;
            tensor.offset = tensor.offset.wrapping_add(old.offset.wrapping_sub(right.offset));
        }
    }
    let len = (after.rest.len() + before.rest.len()).saturating_sub(right.rest.len());
    after.rest.to_mut().resize(len.min(before.rest.len()), 0);
}

/// How many bytes of numbers, strings or arrays the value of a pair has.
fn elements_len(tree: &Tree<'static>, i: usize) -> usize {
    match tree.metadata.get(i).map(|pair| &pair.value) {
        Some(Value::Array(Array { elements, .. })) => elements.len(1),
        Some(Value::Fixed(_) | Value::String(_)) | None => 0,
    }
}

fn drop_elements(tree: &mut Tree<'static>, i: usize, at: usize, n: usize) {
    let Some(Value::Array(array)) = tree.metadata.get_mut(i).map(|pair| &mut pair.value) else { return };
    match &mut array.elements {
        Elements::Fixed(bytes) => drop(bytes.drain(at..at + n)),
        Elements::Strings(strings) => drop(strings.drain(at..at + n)),
        Elements::Arrays(arrays) => drop(arrays.drain(at..at + n)),
    }
}

/// An array in the place of the array that holds it.
fn unnest(tree: &mut Tree<'static>, i: usize) {
    let Some(Value::Array(array)) = tree.metadata.get_mut(i).map(|pair| &mut pair.value) else { return };
    if let Elements::Arrays(inner) = &mut array.elements
        && !inner.is_empty()
    {
        *array = inner.swap_remove(0);
    }
}

/// Every key, name and string that is a value, in the order of the file; those of arrays are left out:
/// their number is made smaller instead.
fn strings<'t>(tree: &'t mut Tree<'static>) -> Vec<&'t mut RawString> {
    let mut list = Vec::new();
    for pair in &mut tree.metadata {
        list.push(&mut pair.key);
        match &mut pair.value {
            Value::String(string) => list.push(string),
            Value::Fixed(_) | Value::Array(_) => {}
        }
    }
    list.extend(tree.tensors.iter_mut().map(|tensor| &mut tensor.name));
    list
}

/// Shows every number of the tree with its index, and stores it again as far as it fits; gives how many
/// there are. Numbers inside arrays are left out.
fn numbers(tree: &mut Tree<'static>, see: &mut dyn FnMut(usize, &mut u64)) -> usize {
    let mut count = 0;
    let order = tree.byte_order;
    let mut wide = |n: &mut u64| {
        see(count, n);
        count += 1;
    };
    let narrow = |n: &mut u32, wide: &mut dyn FnMut(&mut u64)| {
        let mut large = u64::from(*n);
        wide(&mut large);
        *n = u32::try_from(large).unwrap_or(*n);
    };
    narrow(&mut tree.version, &mut wide);
    wide(&mut tree.tensor_count);
    wide(&mut tree.kv_count);
    for pair in &mut tree.metadata {
        wide(&mut pair.key.len);
        narrow(&mut pair.type_id, &mut wide);
        match &mut pair.value {
            Value::Fixed(bytes) => number(order, bytes, &mut wide),
            Value::String(string) => wide(&mut string.len),
            Value::Array(array) => {
                narrow(&mut array.type_id, &mut wide);
                wide(&mut array.len);
            }
        }
    }
    for tensor in &mut tree.tensors {
        wide(&mut tensor.name.len);
        narrow(&mut tensor.n_dims, &mut wide);
        tensor.dims.iter_mut().for_each(&mut wide);
        narrow(&mut tensor.type_id, &mut wide);
        wide(&mut tensor.offset);
    }
    count
}

fn number(order: ByteOrder, bytes: &mut [u8], wide: &mut dyn FnMut(&mut u64)) {
    if bytes.len() <= 8 {
        let mut n = order.number(bytes);
        wide(&mut n);
        let new = order.bytes(n, bytes.len());
        bytes.copy_from_slice(&new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Builder, breaking, pair, scalar, valid};
    use crate::judge::judge;
    use crate::rules::{Checks, Rule, header, layout, metadata, tensors};
    use crate::types::ValueType;

    /// The rules that a file breaks.
    fn broken(bytes: &[u8]) -> Vec<&'static Rule> {
        let mut rules: Vec<_> = judge(bytes, &Checks::all()).findings.into_iter().map(|f| f.rule).collect();
        rules.dedup();
        rules
    }

    #[test]
    fn what_is_kept_is_kept_and_the_rest_goes() {
        let rules = [
            &metadata::KEY_DUPLICATE,
            &metadata::KEY_TRUNCATED,
            &metadata::ARRAY_DEPTH,
            &tensors::NAME_DUPLICATE,
            &tensors::N_DIMS_MAX,
            &layout::OFFSET_ALIGNED,
            &header::VERSION_FUTURE,
        ];
        for rule in rules {
            for seed in 0..8 {
                let Some(file) = breaking(rule, seed).map(|broken| broken.bytes()) else { panic!("{}", rule.id) };
                let kept = broken(&file);
                let mut asked = 0;
                let least = minimized(&file, 3000, &mut |bytes| {
                    asked += 1;
                    broken(bytes) == kept
                });
                assert!(asked <= 3000, "{}: seed {seed}: asked {asked} times", rule.id);
                assert_eq!(broken(&least), kept, "{}: seed {seed}", rule.id);
                // A header, the architecture and an entry or two: what one rule is about is small.
                let most = if *rule == metadata::ARRAY_DEPTH { 520 } else { 220 };
                assert!(least.len() <= most, "{}: seed {seed}: {} of {} bytes", rule.id, least.len(), file.len());
            }
        }
    }

    #[test]
    fn a_file_of_which_nothing_may_change_stays() {
        let file = encode(&valid(3));
        assert_eq!(minimized(&file, 1000, &mut |_| false), file);
        assert_eq!(minimized(&file, 0, &mut |_| true), file);
        assert_eq!(minimized(&file, 1000, &mut |_| true), b"");
    }

    #[test]
    fn numbers_move_to_a_boundary() {
        let file = encode(&valid(3));
        let large = |bytes: &[u8]| decode(bytes).tree.is_some_and(|tree| tree.kv_count > 1000);
        let mut tree = decode(&file).tree.map(Tree::into_owned).unwrap_or_default();
        tree.kv_count = 0x1234_5678_9ABC;
        let least = minimized(&encode(&tree), 5000, &mut |bytes| large(bytes));
        assert_eq!(decode(&least).tree.map(|tree| tree.kv_count), Some(1023));
    }

    #[test]
    fn few_questions_about_a_large_file_are_few_edits() {
        // Nothing smaller is kept: all that is left is to find out that nothing is.
        let mut builder = Builder::new();
        for i in 0..2000u64 {
            builder.set(pair(format!("k{i}"), scalar(ValueType::U64, u64::MAX - i)));
        }
        let file = encode(&builder.finish());
        for tries in [1, 20] {
            let mut asked = 0;
            let least = minimized(&file, tries, &mut |_| {
                asked += 1;
                false
            });
            assert_eq!((least.len(), asked <= tries), (file.len(), true), "asked {asked} times");
        }
        // Of the edits that ask nothing, there is a number, too.
        let mut search = Search { best: file, left: usize::MAX, edits: 3, keeps: &mut |_| false };
        search.renumber();
        search.drop_entries();
        search.shorten();
        assert_eq!(search.edits, 0);
    }
}
