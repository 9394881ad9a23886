import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Agent, ClientRequest } from 'node:http'

/** Node tells here of each request that ended without an answer, by a network's fault or at its limit. */
const CHANNEL = 'http.client.request.error'

/**
 * Keeps a host's connections trustworthy. A firewall or balancer forgets connections that lie idle and tells nobody: then
 * all of them are dead, and each try of a request would die on the next one. So as soon as one that was used before gives no
 * answer, those that lie idle beside it are closed; the next try makes a new one.
 *
 * @param url of the account
 * @returns ends it
 */
export function distrustIdleConnections(url: URL): () => void {
  const { host, hostname, protocol } = url
  const port = url.port || (protocol === 'https:' ? '443' : '80')
  const onFailure = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest & { readonly agent?: Agent } }
    if (request.reusedSocket && request.getHeader('host') === host) closeIdle(request.agent, `${hostname}:${port}:`)
  }
  subscribe(CHANNEL, onFailure)
  return () => unsubscribe(CHANNEL, onFailure)
}

/** @param where how the agent's names of connections to the host begin */
function closeIdle(agent: Agent | undefined, where: string): void {
  for (const [name, sockets] of Object.entries(agent?.freeSockets ?? {})) {
    if (!name.startsWith(where)) continue
    for (const socket of [...(sockets ?? [])]) socket.destroy()
  }
}
