//! The table of reductions by operations of numbers.

/// Hands the table to a macro, which makes one form of each. A row says whether the world has it as well, or has another
/// operation of that name; what it is called, for all, for one PE and started, and by which families; what is combined; how, and
/// whether the order makes no difference even to numbers that round; and what it is in words.
macro_rules! table {
    ($form:ident) => {
        $form! {
            world: sum Sum, sum_to SumTo, start_sum StartSum, (Operands: Reducible::Number) added false, "sum", "; integers wrap";
            world: prod Prod, prod_to ProdTo, start_prod StartProd, (Operands: Reducible::Number) multiplied false, "product", "; integers wrap";
            world: min Min, min_to MinTo, start_min StartMin, (Operands: Reducible::Number) lesser true, "minimum", "";
            world: max Max, max_to MaxTo, start_max StartMax, (Operands: Reducible::Number) greater true, "maximum", "";
            team: and And, and_to AndTo, start_and StartAnd, (BitOperands: BitReducible::Bits) anded true, "bitwise and", "";
            team: or Or, or_to OrTo, start_or StartOr, (BitOperands: BitReducible::Bits) ored true, "bitwise or", "";
            team: xor Xor, xor_to XorTo, start_xor StartXor, (BitOperands: BitReducible::Bits) xored true, "bitwise exclusive or", "";
        }
    };
}

pub(super) use table;
