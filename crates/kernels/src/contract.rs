//! What these kernels may do.
//!
//! Activations are held as ggml's CPU code holds them (`vec_dot_type` of `type_traits_cpu`), so that the two can
//! be compared under one contract. Products are added up as integers inside a block, and in binary32 beyond.

use gguf_spec::kernel::Operation;
use gguf_spec::kernel::contract::{Contract, Form, Promises};
use gguf_spec::types::TensorType;

/// The form in which activations are multiplied with weights of a type; `None` where there is no product: of types
/// that were removed, and of Q8_1 and Q8_K, which are forms of activations themselves.
#[must_use]
pub fn activations(ty: &TensorType) -> Option<Form> {
    match ty.name {
        "F32" | "F64" | "I8" | "I16" | "I32" | "I64" => Some(Form::Exact),
        "F16" => Some(Form::F16),
        "BF16" => Some(Form::Bf16),
        "Q4_0" | "Q5_0" | "Q8_0" | "IQ4_NL" | "MXFP4" | "NVFP4" | "Q1_0" | "Q2_0" => Some(Form::Q8_0),
        "Q4_1" | "Q5_1" => Some(Form::Q8_1),
        "Q2_K" | "Q3_K" | "Q4_K" | "Q5_K" | "Q6_K" | "IQ1_S" | "IQ1_M" | "IQ2_XXS" | "IQ2_XS" | "IQ2_S" | "IQ3_XXS"
        | "IQ3_S" | "IQ4_XS" | "TQ1_0" | "TQ2_0" => Some(Form::Q8K),
        _ => None,
    }
}

/// The contract for an operation on a type, whatever the number of columns; `None` if there is no kernel.
#[must_use]
pub fn contract(operation: Operation, ty: &TensorType) -> Option<Contract> {
    let form = match operation {
        Operation::Dequantize | Operation::GetRows => ty.has_layout().then_some(Form::Exact),
        Operation::QuantizeRow => [Form::Q8_0, Form::Q8_1, Form::Q8K]
            .into_iter()
            .find(|form| form.blocks().is_some_and(|blocks| blocks.id == ty.id)),
        Operation::Dot | Operation::Matmul | Operation::MatmulId => activations(ty),
    }?;
    Some(Contract { promises: PROMISES, ..Contract::F32 }.with_activations(form))
}

/// Every result is the sum of its own row and column, in one order.
const PROMISES: Promises = Promises { batch_invariant: true, split_invariant: true, repeatable: true };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_with_a_layout_has_a_product_but_the_forms_of_activations() {
        let without: Vec<_> = TensorType::live().filter(|ty| activations(ty).is_none()).map(|ty| ty.name).collect();
        assert_eq!(without, ["Q8_1", "Q8_K"]);
    }

    #[test]
    fn whole_blocks_of_weights_are_whole_blocks_of_activations() {
        for ty in TensorType::live() {
            if let Some(blocks) = activations(ty).and_then(Form::blocks) {
                assert!(ty.block.is_multiple_of(blocks.block), "{}", ty.name);
            }
        }
    }
}
