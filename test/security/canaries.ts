/** Secrets that must never appear. Each is unlike anything else in any output. */
export const KEY = Buffer.from('canary-account-key-canary-account-key').toString('base64')
const SIGNATURE = 'canarySAS/canary+canary='
export const SAS = `sv=2024-11-04&se=2099-01-01T00%3A00%3A00Z&sp=rwdl&sr=c&sig=${encodeURIComponent(SIGNATURE)}`
export const HOOK_SECRET = 'canary-hook-secret-canary'
export const CLIENT_SECRET = 'canary-client-secret-canary'

const NAKED = [KEY, SIGNATURE, HOOK_SECRET, CLIENT_SECRET, 'canary-account-key', 'canarySAS']

/** Raw, percent-encoded once and twice, as base64, and as in JSON. */
const FORMS = new Set(
  NAKED.flatMap(text => [
    text,
    encodeURIComponent(text),
    encodeURIComponent(encodeURIComponent(text)),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ]),
)

/** The secrets in a text, in any form. */
export function hitsIn(text: string): string[] {
  return [...FORMS].filter(form => text.includes(form))
}

/** Connection strings of an account at an address, with a key and with a SAS. */
export function connectionStrings(endpoint: string): Readonly<Record<'key' | 'SAS', string>> {
  const account = `BlobEndpoint=${endpoint};AccountName=acct`
  return { key: `${account};AccountKey=${KEY}`, SAS: `${account};SharedAccessSignature=${SAS}` }
}

/** All secrets that the environment may contain. */
export function secretEnvironment(connectionString: string): Record<string, string> {
  return {
    AZURE_STORAGE_CONNECTION_STRING: connectionString,
    AZURE_STORAGE_KEY: KEY,
    AZURE_STORAGE_SAS_TOKEN: `?${SAS}`,
    AZURE_CLIENT_SECRET: CLIENT_SECRET,
    HOOK_SECRET,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${HOOK_SECRET}`,
  }
}
