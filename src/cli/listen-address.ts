import type { ListenAddress } from '../http/listen.ts'
import { UsageError } from './problem.ts'

/** Default host: only this machine; access from other machines must be configured. */
const USUAL_HOST = '127.0.0.1'
const MAX_PORT = 65_535

/** `HOST:PORT`, `[::1]:PORT`, or `:PORT` for this machine only. */
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

/** A host name under which requests are accepted, without a port. */
export function listenName(flag: string): (text: string) => string {
  return text => {
    if (/^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$/.test(text)) return text
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'Write each name in full and without a port, such as watchdog.monitoring.svc.',
    })
  }
}

function hintFor(text: string, flag: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return `Write ${flag} :${text} for ${USUAL_HOST}:${text}.`
  const [, host, port] = /^([0-9A-Fa-f:]*:[0-9A-Fa-f:]*):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined) return `Write an IPv6 address in brackets: ${flag} [${host}]:${port}.`
  return `HOST:PORT, [IPv6]:PORT, or :PORT for this machine only, such as ${USUAL_HOST}:9464; ports go up to ${MAX_PORT}.`
}
