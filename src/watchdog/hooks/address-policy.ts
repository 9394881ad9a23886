import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/**
 * Class of an IP address. `public`: internet. `inner`: this machine or a private network, or reserved for documentation
 * and benchmarks. `closed`: metadata services, which hand out credentials to any caller; link-local, multicast and
 * unspecified addresses. No receiver of webhooks has a `closed` address.
 */
export type Side = 'public' | 'inner' | 'closed'

/** `undefined` for texts that are not IP addresses. An address with an embedded IPv4 address has the class of that. */
export function sideOf(text: string): Side | undefined {
  const address = reachedBy(text)
  return address && RULES.find(([network]) => holds(network, address))?.[1]
}

/** A range of addresses that share the leading bits of `first`. */
export interface Network {
  readonly first: Address
  /** Number of leading bits. */
  readonly prefix: number
}

/** `10.1.0.0/16`, `fd12::/16`, or one address; `undefined` for other texts, and for addresses with an embedded one. */
export function networkOf(text: string): Network | undefined {
  const [, start = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const first = start.includes('%') ? undefined : addressOf(start)
  if (first === undefined || writtenInto(first) !== undefined) return undefined
  const prefix = digits === undefined ? first.bits : Number(digits)
  return prefix > first.bits ? undefined : { first, prefix }
}

/** True if the network contains the address. */
function isWithin(text: string, network: Network): boolean {
  const address = reachedBy(text)
  return address !== undefined && holds(network, address)
}

interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

function holds({ first, prefix }: Network, { bits, value }: Address): boolean {
  const rest = BigInt(bits - prefix)
  return bits === first.bits && value >> rest === first.value >> rest
}

function reachedBy(text: string): Address | undefined {
  const [bare = ''] = text.split('%')
  const address = addressOf(bare)
  return address && (writtenInto(address) ?? address)
}

function addressOf(text: string): Address | undefined {
  const version = isIP(text)
  if (version === 4) return { bits: 32, value: joined(text.split('.').map(Number), 8n) }
  return version === 6 ? { bits: 128, value: joined(groupsOf(text), 16n) } : undefined
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n)
}

/** The eight groups of an IPv6 address. URL normalizes dotted notation and leading zeros. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map(part => (part === '' ? [] : part.split(':')))
  const left = before ?? []
  const right = after ?? []
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map(group => Number.parseInt(group, 16))
}

/** The IPv4 address that receives the packets for an IPv6 address: mapped, translated (NAT64), 6to4. */
function writtenInto(address: Address): Address | undefined {
  const form = FORMS.find(([network]) => holds(network, address))
  return form && { bits: 32, value: (address.value >> form[1]) & 0xffff_ffffn }
}

function network(text: string): Network {
  const [start = '', digits] = text.split('/')
  const first = addressOf(start)
  if (first === undefined) throw new Error(`${text} is not a network`)
  return { first, prefix: Number(digits) }
}

/** Forms with an embedded IPv4 address, and the number of bits after it. */
const FORMS = (
  [
    ['::ffff:0:0/96', 0n],
    ['::ffff:0:0:0/96', 0n],
    ['64:ff9b::/96', 0n],
    ['2002::/16', 80n],
  ] as const
).map(([text, rest]) => [network(text), rest] as const)

/**
 * The first match counts. Mostly from the registries of special-purpose addresses:
 * https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const RULES: readonly (readonly [Network, Side])[] = (
  [
    // metadata and host services of Azure, Alibaba and Oracle; those of others are link-local
    ['168.63.129.16/32 100.100.100.200/32 192.0.0.192/32', 'closed'],
    ['0.0.0.0/8 169.254.0.0/16 224.0.0.0/4 240.0.0.0/4', 'closed'],
    ['10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16', 'inner'],
    ['192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24', 'inner'],
    ['0.0.0.0/0', 'public'],
    // metadata services of AWS and Google
    ['fd00:ec2::/32 fd20:ce::/64', 'closed'],
    ['::1/128', 'inner'],
    // the last two embed IPv4 addresses in other ways
    ['::/96 fe80::/10 ff00::/8 2001::/32 64:ff9b:1::/48', 'closed'],
    ['2001::/23 2001:db8::/32 3fff::/20', 'inner'],
    ['2000::/3', 'public'],
    ['::/0', 'inner'],
  ] as const
).flatMap(([texts, side]) => texts.split(' ').map(text => [network(text), side] as const))

/** Resolves a name to all its addresses. */
export type Resolve = (host: string, options: { readonly family?: number }) => Promise<readonly LookupAddress[]>

/** Code in logs of deliveries and metrics, beside `http-503` or `ECONNREFUSED`. */
const DELIVERY_CODE = 'address-refused'

/** The address of a webhook is not permitted. */
export class AddressRefused extends Error {
  readonly code = DELIVERY_CODE
}

/** The setting that permits webhooks to private addresses. */
const SETTING = 'webhooks: {networks: […]} in the file of --config'

/**
 * Why webhooks may not be sent to an IP address; `undefined` if they may.
 *
 * @param networks permitted private networks, as accepted by `networkOf`; a closed address is never permitted
 */
export function refusalOf(address: string, networks: readonly string[]): string | undefined {
  const side = sideOf(address)
  if (side === 'public') return undefined
  if (side !== 'inner') return `${address} never receives webhooks, whatever the settings`
  const isOpened = networks.map(networkOf).some(network => network !== undefined && isWithin(address, network))
  return isOpened ? undefined : `${address} is a private address and not in ${SETTING}`
}

/** The address in the host of a URL, without brackets; `undefined` for a name. */
export function literalOf(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return sideOf(address) === undefined ? undefined : address
}

/**
 * Resolves names for connections to permitted addresses only. The connection uses exactly the checked addresses, so DNS
 * rebinding is ineffective. Fails with `AddressRefused` if no address is permitted.
 */
export function guardedLookup(networks: readonly string[], resolve: Resolve): LookupFunction {
  return (host, { family, all }, callback) => {
    const hasFamily = family === 4 || family === 6
    resolve(host, hasFamily ? { family } : {}).then(
      addresses => {
        const open = addresses.filter(({ address }) => refusalOf(address, networks) === undefined)
        const [first] = open
        if (first === undefined) callback(refused(host, addresses, networks), '')
        else if (all) callback(null, open)
        else callback(null, first.address, first.family)
      },
      error => callback(error, ''),
    )
  }
}

function refused(host: string, addresses: readonly LookupAddress[], networks: readonly string[]): AddressRefused {
  const [first] = addresses
  const why = first === undefined ? 'no address' : refusalOf(first.address, networks)
  return new AddressRefused(`${host} resolves to ${first?.address ?? 'nothing'}: ${why}`)
}
