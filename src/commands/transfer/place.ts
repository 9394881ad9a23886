import { UsageError } from '../../cli/problem.ts'
import { formatAddress, parseAddress } from '../../store/address.ts'

/** Where streams come from or go to. */
export type Place =
  | { readonly kind: 'store'; readonly address: string }
  | { readonly kind: 'path'; readonly path: string }

const SCHEME = /^(?:memory|sqlite|azure|azurite|https?):/i

/** What begins like an address is one; a path that does is written with `./` in front. */
export function placeOf(text: string, what: string): Place {
  if (!SCHEME.test(text)) return { kind: 'path', path: text }
  const address = parseAddress(text)
  if (address.kind === 'memory') {
    throw new UsageError(`${what}: memory: is gone when this command ends`, { hint: 'Name a store that lasts.' })
  }
  return { kind: 'store', address: formatAddress(address) }
}
