import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** What is said to whom it may not be told, with the status. */
export interface Refused {
  readonly status: 400 | 403
  readonly reason: string
}

/**
 * Why a request is not answered; `undefined` if it is. There is no sign-in, so pages of other sites, open in a browser that
 * reaches this address, must read nothing: neither directly nor under a name of theirs that leads here (DNS rebinding). Their
 * requests carry such a name as `Host`, an `Origin`, or say themselves that they come from another site; those of probes and
 * scrapers carry an address, or a name that was let in.
 *
 * @param names those under which this address may be asked, beside addresses and `localhost`
 */
export function refusedVisitor(request: IncomingMessage, names: readonly string[]): Refused | undefined {
  const { headers, rawHeaders, httpVersion } = request
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) return refused(400, 'more than one Host')
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0) {
    return refused(400, 'requests have no body here')
  }
  const { host, origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined) return refused(403, 'scripts of web pages are not answered')
  if (site !== 'none' && site !== 'same-origin') return refused(403, 'other web sites are not answered')
  // browsers always name one; the checks of some load balancers do not
  if (host === undefined && httpVersion === '1.0') return undefined
  if (isKnown(host ?? '', names)) return undefined
  return refused(403, 'not asked by an address or a known name: listen-names in the file of --config lets names in')
}

function refused(status: Refused['status'], reason: string): Refused {
  return { status, reason }
}

/** Where a name leads is up to whoever owns it; an address is where it says. The port may be that of a forwarding. */
function isKnown(host: string, names: readonly string[]): boolean {
  const [, v6, name = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (v6 !== undefined) return isIP(v6) === 6
  const asked = canonical(name)
  return isIP(asked) === 4 || asked === 'localhost' || names.some(known => canonical(known) === asked)
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
