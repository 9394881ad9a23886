import type { TokenCredential } from '@azure/identity'
import {
  AnonymousCredential,
  BlobServiceClient,
  ContainerClient,
  newPipeline,
  type Pipeline,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import type { AzureCredential } from './azure-account.ts'

/** A client of one container, and a way to get more of them that share nothing but the credential. */
export interface AzureContainer {
  readonly client: ContainerClient
  /** A second client with a pipeline of its own, changed before its first use. */
  withPipeline(prepare: (pipeline: Pipeline) => void): ContainerClient
  /** A client of the account the container is in. */
  service(): BlobServiceClient
}

/**
 * Opens a container. The SDK's retries are off: its repeat of a request that was applied reports failure, so the driver
 * repeats by itself and only what may be repeated. Connections are kept alive, which is the SDK's default.
 */
export async function openContainer(
  endpoint: string,
  container: string,
  credential: AzureCredential,
): Promise<AzureContainer> {
  const signer = await signerOf(credential)
  const query = credential.kind === 'sas' ? `?${credential.token}` : ''
  const url = `${endpoint}/${container}${query}`
  const pipelineOf = (): Pipeline =>
    newPipeline(signer, { retryOptions: { maxTries: 1 }, userAgentOptions: { userAgentPrefix: 'leasectl' } })
  const withPipeline: AzureContainer['withPipeline'] = prepare => {
    const pipeline = pipelineOf()
    prepare(pipeline)
    return new ContainerClient(url, pipeline)
  }
  return {
    client: withPipeline(() => {}),
    withPipeline,
    service: () => new BlobServiceClient(`${endpoint}${query}`, pipelineOf()),
  }
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
      const { tokenCredential } = await import('./azure-identity.ts')
      return tokenCredential(credential.source)
    }
    default:
      return credential satisfies never
  }
}
