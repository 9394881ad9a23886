import { UsageError } from '../../cli/problem.ts'
import type { ListenAddress } from '../../watchdog/http/server.ts'

/** Without a host only this machine is answered: what asks from elsewhere has to be let in by name. */
const USUAL_HOST = '127.0.0.1'
const MAX_PORT = 65_535

/** `HOST:PORT`, `[::1]:PORT`, or `:PORT` for this machine alone. */
export function listenAddress(flag: string): (text: string) => ListenAddress {
  return text => {
    const match = /^(?:\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\]|([A-Za-z0-9][A-Za-z0-9._-]*)?):(\d{1,5})$/.exec(text)
    const [, v6, name, digits] = match ?? []
    const port = Number(digits)
    if (match === null || port > MAX_PORT) {
      throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, { hint: hintFor(text, flag) })
    }
    return { host: v6 || name || USUAL_HOST, port }
  }
}

/** A name under which a watchdog may be asked, without a port. */
export function listenName(flag: string): (text: string) => string {
  return text => {
    if (/^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$/.test(text)) return text
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'Each name whole and without a port, such as watchdog.monitoring.svc.',
    })
  }
}

function hintFor(text: string, flag: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return `Write ${flag} :${text} for ${USUAL_HOST}:${text}.`
  const [, host, port] = /^([0-9A-Fa-f:]*:[0-9A-Fa-f:]*):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined) return `An IPv6 address stands in brackets: ${flag} [${host}]:${port}.`
  return `HOST:PORT, [IPv6]:PORT, or :PORT for this machine alone, such as ${USUAL_HOST}:9464; ports go up to ${MAX_PORT}.`
}
