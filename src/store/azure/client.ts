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
