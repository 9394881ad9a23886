import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isWithin, networkOf, sideOf } from './address-policy.ts'

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
