import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Agent, ClientRequest } from 'node:http'
import type { TokenCredential } from '@azure/identity'
import {
  AnonymousCredential,
  BlobServiceClient,
  BlockBlobClient,
  ContainerClient,
  newPipeline,
  type Pipeline,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { BadName } from '../errors.ts'
import type { AzureCredential } from './account.ts'
import { onlyTheService } from './answers.ts'

/** A client of one container, and a way to get more of them that share nothing but the credential. */
export interface AzureContainer {
  readonly client: ContainerClient
  /** A second client with a pipeline of its own, changed before its first use. */
  withPipeline(prepare: (pipeline: Pipeline) => void): ContainerClient
  /** A client of a blob whose name is none for a stream. @throws BadName no URL reaches it */
  oddBlob(name: string): BlockBlobClient
  /** A client of the account the container is in. */
  service(): BlobServiceClient
}

/**
 * Opens a container. The SDK's retries are off: its repeat of a request that was applied reports failure, so the driver
 * repeats by itself and only what may be repeated. What is not the service's answer does not get to it. Connections are kept alive, which is the SDK's default.
 */
export async function openContainer(
  endpoint: string,
  container: string,
  credential: AzureCredential,
): Promise<AzureContainer> {
  const signer = await signerOf(credential)
  const query = credential.kind === 'sas' ? `?${credential.token}` : ''
  const url = `${endpoint}/${container}${query}`
  const pipelineOf = (): Pipeline => {
    const userAgentOptions = { userAgentPrefix: 'leasectl' }
    const pipeline = newPipeline(signer, { retryOptions: { maxTries: 1 }, userAgentOptions })
    pipeline.factories.push(onlyTheService())
    return pipeline
  }
  const withPipeline: AzureContainer['withPipeline'] = prepare => {
    const pipeline = pipelineOf()
    prepare(pipeline)
    return new ContainerClient(url, pipeline)
  }
  return {
    client: withPipeline(() => {}),
    withPipeline,
    oddBlob: name => new BlockBlobClient(urlOfOdd(name, new URL(url)), pipelineOf()),
    service: () => new BlobServiceClient(`${endpoint}${query}`, pipelineOf()),
  }
}

/**
 * A URL collapses dot segments, and would mean another blob: its slashes are encoded too, and what still moved is refused. So
 * is a backslash, which the service takes for a slash.
 */
function urlOfOdd(name: string, url: URL): string {
  const path = `${url.pathname}/${encodeURIComponent(name)}`
  url.pathname = path
  if (url.pathname !== path || name.includes('\\')) throw new BadName(name, 'no URL reaches it')
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

/** @param where how the agent's names of connections to the host begin */
function closeIdle(agent: Agent | undefined, where: string): void {
  for (const [name, sockets] of Object.entries(agent?.freeSockets ?? {})) {
    if (!name.startsWith(where)) continue
    for (const socket of [...(sockets ?? [])]) socket.destroy()
  }
}
