import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/**
 * Where an IP address leads. `public`: into the internet. `inner`: to this machine or into a network of one's own, or it is
 * set aside for documents and measurements. `closed`: to a metadata service, which hands out credentials to whoever asks, to
 * neighbours on the link, to many at a time, or to no address at all; no receiver of webhooks is there.
 */
export type Side = 'public' | 'inner' | 'closed'

/** `undefined` for what is no IP address. One that another is written into leads where that one does. */
export function sideOf(text: string): Side | undefined {
  const address = reachedBy(text)
  return address && RULES.find(([network]) => holds(network, address))?.[1]
}

/** A part of all addresses: those that begin as `first` does. */
export interface Network {
  readonly first: Address
  /** So many bits of it. */
  readonly prefix: number
}

/** `10.1.0.0/16`, `fd12::/16`, or one address; `undefined` for all else, and for forms that another address is written into. */
export function networkOf(text: string): Network | undefined {
  const [, start = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const first = start.includes('%') ? undefined : addressOf(start)
  if (first === undefined || writtenInto(first) !== undefined) return undefined
  const prefix = digits === undefined ? first.bits : Number(digits)
  return prefix > first.bits ? undefined : { first, prefix }
}

/** Whether an address leads into a network. */
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

/** The eight numbers of an IPv6 address. A URL has neither dots in it nor zeros in front. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map(part => (part === '' ? [] : part.split(':')))
  const left = before ?? []
  const right = after ?? []
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map(group => Number.parseInt(group, 16))
}

/** The IPv4 address that gets what is sent to an IPv6 one: mapped, translated (NAT64), 6to4. */
function writtenInto(address: Address): Address | undefined {
  const form = FORMS.find(([network]) => holds(network, address))
  return form && { bits: 32, value: (address.value >> form[1]) & 0xffff_ffffn }
}

function network(text: string): Network {
  const [start = '', digits] = text.split('/')
  const first = addressOf(start)
  if (first === undefined) throw new Error(`${text} is no network`)
  return { first, prefix: Number(digits) }
}

/** What stands behind the IPv4 address, in bits. */
const FORMS = (
  [
    ['::ffff:0:0/96', 0n],
    ['::ffff:0:0:0/96', 0n],
    ['64:ff9b::/96', 0n],
    ['2002::/16', 80n],
  ] as const
).map(([text, rest]) => [network(text), rest] as const)

/**
 * The first that holds the address counts. Mostly of the registries for special purposes:
 * https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const RULES: readonly (readonly [Network, Side])[] = (
  [
    // metadata and host services: Azure, Alibaba, Oracle; those of others are link-local
    ['168.63.129.16/32 100.100.100.200/32 192.0.0.192/32', 'closed'],
    ['0.0.0.0/8 169.254.0.0/16 224.0.0.0/4 240.0.0.0/4', 'closed'],
    ['10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16', 'inner'],
    ['192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24', 'inner'],
    ['0.0.0.0/0', 'public'],
    // metadata services of AWS and Google
    ['fd00:ec2::/32 fd20:ce::/64', 'closed'],
    ['::1/128', 'inner'],
    // the last two carry IPv4 addresses in forms of their own
    ['::/96 fe80::/10 ff00::/8 2001::/32 64:ff9b:1::/48', 'closed'],
    ['2001::/23 2001:db8::/32 3fff::/20', 'inner'],
    ['2000::/3', 'public'],
    ['::/0', 'inner'],
  ] as const
).flatMap(([texts, side]) => texts.split(' ').map(text => [network(text), side] as const))

/** Asks for the addresses of a name, all of them. */
export type Resolve = (host: string, options: { readonly family?: number }) => Promise<readonly LookupAddress[]>

/** What the log of deliveries and the metrics call it, as they say `http-503` or `ECONNREFUSED`. */
const DELIVERY_CODE = 'address-refused'

/** The name or the address leads where no webhook may be sent to. */
export class AddressRefused extends Error {
  readonly code = DELIVERY_CODE
}

/** How whoever runs the watchdog lets webhooks go to inner addresses. */
const SETTING = 'webhooks: {networks: […]} of the file of --config'

/**
 * Why a webhook may not be sent to an IP address; `undefined` if it may.
 *
 * @param networks those of one's own that are opened, as `networkOf` reads them; a closed address is never opened
 */
export function refusalOf(address: string, networks: readonly string[]): string | undefined {
  const side = sideOf(address)
  if (side === 'public') return undefined
  if (side !== 'inner') return `${address} is an address that no webhook is sent to, whatever the settings`
  const isOpened = networks.map(networkOf).some(network => network !== undefined && isWithin(address, network))
  return isOpened ? undefined : `${address} is an inner address, and not in ${SETTING}`
}

/** The address that a host of a URL is, without brackets; `undefined` if it is a name. */
export function literalOf(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return sideOf(address) === undefined ? undefined : address
}

/**
 * Looks names up for a connection, and hands on only the addresses that may be sent to: what is connected to is what was
 * looked at, whatever a name server says a moment before or after. It fails with `AddressRefused` if none is left.
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
  return new AddressRefused(`${host} leads to ${first?.address ?? 'nowhere'}: ${why}`)
}
