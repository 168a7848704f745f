"""All operations of a forward pass, and what a pass is written with."""

from paramsym.program import conversions as conversions, losses as losses
from paramsym.program.activations import apply as apply, glu as glu, is_known as is_known, unknown as unknown
from paramsym.program.attention import (
    attend as attend,
    hide as hide,
    root_reciprocal as root_reciprocal,
    rotate as rotate,
    rotation as rotation,
)
from paramsym.program.conditions import compare as compare, where as where
from paramsym.program.constants import constant as constant
from paramsym.program.graph import Kept as Kept, Operation as Operation, Program as Program, Step as Step, Work as Work
from paramsym.program.lists import at_each as at_each, listed as listed, turn as turn
from paramsym.program.lookups import (
    best as best,
    choose as choose,
    drop as drop,
    lookup as lookup,
    pick as pick,
    put as put,
    still as still,
)
from paramsym.program.masks import ALL as ALL, Mask as Mask
from paramsym.program.named_axes import axes as axes, features as features, heads as heads, known as known, rearrange as rearrange
from paramsym.program.output import output_shape as output_shape
from paramsym.program.own import (
    Applied as Applied,
    Lent as Lent,
    Numbered as Numbered,
    Own as Own,
    collected as collected,
    in_turn as in_turn,
    routed as routed,
    trace_layer as trace_layer,
    unchosen as unchosen,
)
from paramsym.program.pictures import picture as picture
from paramsym.program.products import contract as contract, solve as solve
from paramsym.program.reductions import cumulate as cumulate, normalise as normalise, reduce as reduce, softmax as softmax
from paramsym.program.resampling import resample as resample, sample as sample
from paramsym.program.rotary import ROPE as ROPE, Rope as Rope
from paramsym.program.routing import collect as collect, dispatch as dispatch
from paramsym.program.slices import (
    compact as compact,
    copies as copies,
    flip as flip,
    join as join,
    pad as pad,
    roll as roll,
    segments as segments,
    take as take,
)
from paramsym.program.state import past as past, remember as remember
from paramsym.program.tracing import Value as Value, each as each, region as region, scan as scan
from paramsym.program.types import ArrayType as ArrayType
from paramsym.program.windows import (
    convolve as convolve,
    convolve_transposed as convolve_transposed,
    fold as fold,
    pool as pool,
    pool_to as pool_to,
    unfold as unfold,
)
