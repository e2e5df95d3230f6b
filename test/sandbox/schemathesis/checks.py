"""Checks of ours, beside those of schemathesis."""

import schemathesis


@schemathesis.check
def no_valid_request_is_called_invalid(ctx, response, case):
    """A 400 says whether the request does not fit the description or asks for what cannot be."""
    if response.status_code != 400:
        return
    reason = response.json().get("reason")
    if reason not in ("invalid", "refused"):
        raise AssertionError(f"a 400 without its reason: {response.text}")
    fits = case.meta is not None and case.meta.generation.mode.is_positive
    if fits and reason == "invalid":
        raise AssertionError(f"the request fits the description and is called invalid: {response.text}")
