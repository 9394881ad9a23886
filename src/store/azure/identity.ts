import {
  AzureCliCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  ManagedIdentityCredential,
  type TokenCredential,
  WorkloadIdentityCredential,
} from '@azure/identity'
import type { EntraSource } from './credential.ts'

/** Builds the Entra ID credential for a source. Loaded only when needed: importing the module costs 240 ms. */
export function tokenCredential(source: EntraSource): TokenCredential {
  switch (source.kind) {
    case 'client-secret':
      return new ClientSecretCredential(source.tenantId, source.clientId, source.secret)
    case 'client-certificate':
      return new ClientCertificateCredential(source.tenantId, source.clientId, source.certificatePath)
    case 'workload':
      return new WorkloadIdentityCredential({
        tenantId: source.tenantId,
        clientId: source.clientId,
        tokenFilePath: source.tokenFile,
      })
    case 'managed':
      return source.clientId === undefined
        ? new ManagedIdentityCredential()
        : new ManagedIdentityCredential({ clientId: source.clientId })
    case 'cli':
      return new AzureCliCredential()
    case 'default':
      return new DefaultAzureCredential()
    default:
      return source satisfies never
  }
}
