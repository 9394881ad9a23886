import { BadAddress } from './errors.ts'

/** Address of a store, without secrets. The same store has the same address, however it was written. */
export type StoreAddress =
  | { readonly kind: 'memory' }
  /** `path` as given; a relative path is relative to the working directory. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** The emulator with its well-known account `devstoreaccount1`. */
  | { readonly kind: 'azurite'; readonly host: string; readonly port: number; readonly container: string }
  /** `endpoint` is the blob URL of the account, without a slash at the end. */
  | { readonly kind: 'azure'; readonly endpoint: string; readonly account: string; readonly container: string }

/** The default container. */
export const DEFAULT_CONTAINER = 'eventstreams'
/** Azurite's well-known account. */
export const EMULATOR_ACCOUNT = 'devstoreaccount1'

const EMULATOR_HOST = '127.0.0.1'
const EMULATOR_PORT = 10_000
const PUBLIC_SUFFIX = '.blob.core.windows.net'
const FORMS =
  'Use sqlite:PATH, azure:ACCOUNT/CONTAINER, azurite:[//HOST:PORT/]CONTAINER or the https URL of a container.'

/**
 * Parses an address in the form that `--store` takes: `sqlite:PATH`, `azure:ACCOUNT/CONTAINER`,
 * `azurite:[//HOST:PORT/]CONTAINER`, `memory:`, or the URL of a container, `https://ACCOUNT.blob.…/CONTAINER` or
 * `http://HOST:PORT/ACCOUNT/CONTAINER`. A URL with a signature is rejected and never repeated in the message.
 *
 * @throws BadAddress
 */
export function parseAddress(text: string): StoreAddress {
  refuseSecrets(text)
  const colon = text.indexOf(':')
  const scheme = text.slice(0, Math.max(colon, 0)).toLowerCase()
  const rest = text.slice(colon + 1)
  switch (scheme) {
    case 'memory':
      return rest === '' ? { kind: 'memory' } : bad(text, 'memory: takes nothing after the colon')
    case 'sqlite':
      return rest === '' ? bad(text, 'the file name is missing') : { kind: 'sqlite', path: rest }
    case 'azure':
      return parseAzure(text, rest)
    case 'azurite':
      return parseAzurite(text, rest)
    case 'http':
    case 'https':
      return parseUrl(text)
    default:
      return bad(text, 'unknown scheme')
  }
}

/** The canonical text of an address; the inverse of `parseAddress`. */
export function formatAddress(address: StoreAddress): string {
  switch (address.kind) {
    case 'memory':
      return 'memory:'
    case 'sqlite':
      return `sqlite:${address.path}`
    case 'azurite': {
      const usual = address.host === EMULATOR_HOST && address.port === EMULATOR_PORT
      return usual ? `azurite:${address.container}` : `azurite://${address.host}:${address.port}/${address.container}`
    }
    case 'azure':
      return address.endpoint === publicEndpoint(address.account)
        ? `azure:${address.account}/${address.container}`
        : `${address.endpoint}/${address.container}`
    default:
      return address satisfies never
  }
}

/** The URL of the account, without a slash at the end; containers are below it. */
export function accountUrl(address: StoreAddress & { kind: 'azure' | 'azurite' }): string {
  return address.kind === 'azure' ? address.endpoint : `http://${address.host}:${address.port}/${EMULATOR_ACCOUNT}`
}

/** The blob endpoint of an account in the public cloud. */
export function publicEndpoint(account: string): string {
  return `https://${account}${PUBLIC_SUFFIX}`
}

/** The address of a container below an account URL, in canonical form. */
export function containerAddress(url: string, container: string): StoreAddress & { kind: 'azure' | 'azurite' } {
  return parseUrl(`${url.replace(/\/+$/, '')}/${container}`)
}

function refuseSecrets(text: string): void {
  const carriesSecret = /[?&]sig=|(?:AccountKey|SharedAccessSignature)=/i.test(text)
  if (!carriesSecret) return
  throw new BadAddress('an address must not carry a signature or key', {
    hint: 'Put it into AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_KEY or AZURE_STORAGE_CONNECTION_STRING.',
  })
}

function parseAzure(text: string, rest: string): StoreAddress {
  const [account = '', container = '', ...more] = rest.split('/')
  if (account === EMULATOR_ACCOUNT) return emulatorAccount(text, container)
  if (!isAccount(account)) return badAccount(text, account)
  if (more.length > 0) return bad(text, `nothing may follow the container ${quoted(container)}`)
  return { kind: 'azure', endpoint: publicEndpoint(account), account, container: checkedContainer(text, container) }
}

/** The public cloud has no such account, and a sign-in there would fail for other reasons. */
function emulatorAccount(text: string, container: string): never {
  return bad(text, `${EMULATOR_ACCOUNT} is the account of the emulator: use azurite:${container}`)
}

function parseAzurite(text: string, rest: string): StoreAddress {
  if (!rest.startsWith('//')) {
    return {
      kind: 'azurite',
      host: EMULATOR_HOST,
      port: EMULATOR_PORT,
      container: checkedContainer(text, rest || DEFAULT_CONTAINER),
    }
  }
  const url = urlOf(text, `http:${rest}`)
  return {
    kind: 'azurite',
    host: url.hostname,
    port: portOf(url, EMULATOR_PORT),
    container: checkedContainer(text, url.pathname.slice(1) || DEFAULT_CONTAINER),
  }
}

function parseUrl(text: string): StoreAddress & { kind: 'azure' | 'azurite' } {
  const url = urlOf(text, text)
  const parts = url.pathname.split('/').filter(part => part !== '')
  const first = url.hostname.split('.')[0] ?? ''
  const pathStyle = hasAccountInPath(url.hostname)
  const account = pathStyle ? (parts[0] ?? '') : first
  if (parts.length !== (pathStyle ? 2 : 1))
    return bad(text, 'the URL must name an account and a container, and nothing below')
  const container = checkedContainer(text, parts.at(-1) ?? '')
  if (!isAccount(account)) return badAccount(text, account)
  if (pathStyle && account === EMULATOR_ACCOUNT && url.protocol === 'http:') {
    return { kind: 'azurite', host: url.hostname, port: portOf(url, 80), container }
  }
  return { kind: 'azure', endpoint: pathStyle ? `${url.origin}/${account}` : url.origin, account, container }
}

/** Emulators and private endpoints with an IP address or a bare host name have the account in the path. */
function hasAccountInPath(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.startsWith('[') || !host.includes('.')
}

function urlOf(text: string, source: string): URL {
  if (!URL.canParse(source)) return bad(text, 'it is not a URL')
  const url = new URL(source)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return bad(text, 'it has a user, a query or a fragment')
  }
  return url
}

function portOf(url: URL, usual: number): number {
  return url.port === '' ? usual : Number(url.port)
}

function badAccount(text: string, account: string): never {
  if (account === '') return bad(text, 'the account is missing')
  return bad(text, `the account ${quoted(account)} is not valid: 3 to 24 lower-case letters and digits`)
}

function isAccount(account: string): boolean {
  return /^[a-z0-9]{3,24}$/.test(account)
}

/** Azure's rule: 3–63 lower-case letters, digits and single hyphens between them. */
function checkedContainer(text: string, container: string): string {
  if (container === '$root' || /^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(container)) return container
  if (container === '') return bad(text, 'the container is missing')
  return bad(
    text,
    `the container ${quoted(container)} is not valid: 3 to 63 lower-case letters, digits or single hyphens`,
  )
}

function bad(text: string, why: string): never {
  throw new BadAddress(`${quoted(text)} is not a store address: ${why}`, { hint: FORMS })
}

/** Without users, queries and fragments, which may be secret. */
function quoted(text: string): string {
  const shown = text.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/s, '')
  return JSON.stringify(shown.slice(0, 200))
}
