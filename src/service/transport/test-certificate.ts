/**
 * A self-signed certificate for localhost and 127.0.0.1 with its key, good for a hundred years: for tests of
 * TLS on loopback only, and worth nothing anywhere else.
 */
export const testCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUYJ6x88P/MuuCs3Bu4twgD0nApDYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzIzNDEwOFoYDzIxMjYxMTAz
MjM0MTA4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS8112Udwl//QJYjPY6NUBLh7tRf3DcRXcuSJaBur62/ntynPDRzIQw
HRX8XtV38TFgzaRwpChnyBxPgft8eUtho28wbTAdBgNVHQ4EFgQUiVRCWnR1opax
h95nLNWL9NfOMgQwHwYDVR0jBBgwFoAUiVRCWnR1opaxh95nLNWL9NfOMgQwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgFi9DHuDP3iwgwbC7YBfAktolP0hmKNWy7BD0OQf3IPgCIDrW
5v1DSev3/SDmLMENyb+/1cPYHTXLSWbLZR29utMd
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVMiIZhZfe5LweA59
dKWdFxgUfeRQxxjwApaTYfCKxfWhRANCAAS8112Udwl//QJYjPY6NUBLh7tRf3Dc
RXcuSJaBur62/ntynPDRzIQwHRX8XtV38TFgzaRwpChnyBxPgft8eUth
-----END PRIVATE KEY-----
`,
};
