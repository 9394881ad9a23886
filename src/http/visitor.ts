import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** A refused request: status and reason. */
export interface Refused {
  readonly status: 400 | 403
  readonly reason: string
}

/**
 * Why a request is refused; `undefined` if it is answered. There is no authentication, so pages of other sites, opened
 * in a browser that reaches this address, must not be able to read anything: neither directly nor through a name of
 * theirs that resolves to this address (DNS rebinding). Their requests carry such a name as `Host`, or an `Origin`, or
 * declare themselves as cross-site; those of probes and scrapers carry an address or an accepted name.
 *
 * @param names accepted host names besides addresses and `localhost`
 */
export function refusedVisitor(request: IncomingMessage, names: readonly string[]): Refused | undefined {
  const { headers, rawHeaders, httpVersion } = request
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) return refused(400, 'more than one Host')
  const { host, origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined) return refused(403, 'scripts of web pages are refused')
  if (site !== 'none' && site !== 'same-origin') return refused(403, 'other web sites are refused')
  // Browsers always send Host; health checks of some load balancers do not.
  if (host === undefined && httpVersion === '1.0') return undefined
  if (isKnown(host ?? '', names)) return undefined
  return refused(403, UNKNOWN_HOST)
}

const UNKNOWN_HOST = 'Host is neither an address nor an accepted name: --listen-name accepts one'

function refused(status: Refused['status'], reason: string): Refused {
  return { status, reason }
}

/**
 * Anyone can point a name of theirs here, but an address cannot be redirected. The port may be that of a port
 * forwarding.
 */
function isKnown(host: string, names: readonly string[]): boolean {
  const [, v6, name = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (v6 !== undefined) return isIP(v6) === 6
  const requested = canonical(name)
  return isIP(requested) === 4 || requested === 'localhost' || names.some(known => canonical(known) === requested)
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
