import type { CallOptions, Read } from '../results.ts';

/** Interface document section 4.4: where and how one can log in. Needs no credentials. */
export interface LoginProvidersRecord {
  organization?: string;
  password_url?: string;
  github_url?: string;
  google_url?: string;
  [field: string]: unknown;
}

/** The security endpoints, but for the login itself, which the client does when needed. */
export interface Security {
  providers(options?: CallOptions): Promise<Read<LoginProvidersRecord>>;
}
