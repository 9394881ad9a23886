import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Agent, ClientRequest } from 'node:http'
import type { TokenCredential } from '@azure/identity'
import {
  AnonymousCredential,
  BlobServiceClient,
  BlockBlobClient,
  newPipeline,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { BadName } from '../errors.ts'
import type { AzureCredential } from './credential.ts'
import { PlainContainerClient } from './plain-requests.ts'

/** A client of one container, and others with its credential and policies. */
export interface AzureContainer {
  readonly client: PlainContainerClient
  /** A client of a blob whose name is not valid for a stream. @throws BadName if no URL can address it */
  oddBlob(name: string): BlockBlobClient
  /** A client of the account. */
  service(): BlobServiceClient
}

/**
 * Opens a container. The SDK's retries are off: retrying a request that was applied reports a failure, so the driver itself
 * retries those requests that can be repeated. Answers of other servers do not reach the SDK. Connections are kept alive, which
 * is the SDK's default.
 */
export async function openContainer(
  endpoint: string,
  container: string,
  credential: AzureCredential,
): Promise<AzureContainer> {
  const signer = await signerOf(credential)
  const query = credential.kind === 'sas' ? `?${credential.token}` : ''
  const url = `${endpoint}/${container}${query}`
  const userAgentOptions = { userAgentPrefix: 'leasectl' }
  const pipeline = newPipeline(signer, { retryOptions: { maxTries: 1 }, userAgentOptions })
  // It completes the pipeline, which then serves the others.
  const client = new PlainContainerClient(url, pipeline)
  return {
    client,
    oddBlob: name => new BlockBlobClient(urlOfOdd(name, new URL(url)), pipeline),
    service: () => new BlobServiceClient(`${endpoint}${query}`, pipeline),
  }
}

/**
 * A URL collapses dot segments, and would address another blob: slashes are encoded too, and a path that still changes is
 * rejected. So is a backslash, which the service replaces by a slash.
 */
function urlOfOdd(name: string, url: URL): string {
  const path = `${url.pathname}/${encodeURIComponent(name)}`
  url.pathname = path
  if (url.pathname !== path || name.includes('\\')) throw new BadName(name, 'no URL can address it')
  return url.toString()
}

async function signerOf(
  credential: AzureCredential,
): Promise<StorageSharedKeyCredential | AnonymousCredential | TokenCredential> {
  switch (credential.kind) {
    case 'key':
      return new StorageSharedKeyCredential(credential.account, credential.key)
    case 'sas':
      return new AnonymousCredential()
    case 'entra': {
      const { tokenCredential } = await import('./identity.ts')
      return tokenCredential(credential.source)
    }
    default:
      return credential satisfies never
  }
}

/** Node's channel for requests that ended without an answer, by a network fault or a timeout. */
const CHANNEL = 'http.client.request.error'

/**
 * Closes dead connections to a host. A firewall or load balancer may silently drop idle connections: then all of them are dead,
 * and each attempt of a request would fail on the next one. So when a reused connection gives no answer, the idle ones
 * are closed, and the next attempt opens a new one.
 *
 * @param url URL of the account
 * @returns a function that stops this
 */
export function dropIdleConnectionsOnError(url: URL): () => void {
  const { host, hostname, protocol } = url
  const port = url.port || (protocol === 'https:' ? '443' : '80')
  const onFailure = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest & { readonly agent?: Agent } }
    if (request.reusedSocket && request.getHeader('host') === host) closeIdle(request.agent, `${hostname}:${port}:`)
  }
  subscribe(CHANNEL, onFailure)
  return () => unsubscribe(CHANNEL, onFailure)
}

/** @param where prefix of the agent's names for connections to the host */
function closeIdle(agent: Agent | undefined, where: string): void {
  for (const [name, sockets] of Object.entries(agent?.freeSockets ?? {})) {
    if (!name.startsWith(where)) continue
    for (const socket of [...(sockets ?? [])]) socket.destroy()
  }
}
