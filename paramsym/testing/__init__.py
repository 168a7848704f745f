"""Tools for users' tests: valid sizes for any layer, random layers, a property test in one call, and proofs.

``sizes``, ``layers`` and ``check_against`` need Hypothesis (``pip install paramsym[test]``); ``assert_matches`` and ``certify`` do not.
"""

from paramsym.testing.assertions import assert_matches as assert_matches
from paramsym.testing.properties import check_against as check_against
from paramsym.testing.random_layers import layers as layers
from paramsym.testing.random_sizes import sizes as sizes
from paramsym.testing.running import RunCertificate as RunCertificate, certify_run as certify_run
from paramsym.verify.certificate import Certificate as Certificate, certify as certify
