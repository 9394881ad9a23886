import { describe, expect, it } from 'vitest'
import { parseAddress, type StoreAddress } from '../../../../src/store/address.ts'
import { type CredentialEnvironment, parseConnectionString } from '../../../../src/store/azure/account.ts'
import { credentialFor } from '../../../../src/store/azure/credential.ts'
import { BadAddress } from '../../../../src/store/errors.ts'
import { defaultAddress } from '../../../../src/store/open.ts'

const ACCT = at('azure:acct/orders')
const KEYED = 'DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=a2V5==;EndpointSuffix=core.windows.net'
const DEV_KEY = { kind: 'key', account: 'devstoreaccount1', key: expect.stringMatching(/^Eby8.*==$/) }

function at(text: string): StoreAddress & { kind: 'azure' | 'azurite' } {
  const address = parseAddress(text)
  if (address.kind !== 'azure' && address.kind !== 'azurite') throw new Error(address.kind)
  return address
}

describe('the credential of an address', () => {
  it('is the key of the connection string first of all', () => {
    const env = { AZURE_STORAGE_CONNECTION_STRING: KEYED, AZURE_STORAGE_ACCOUNT: 'acct', AZURE_STORAGE_KEY: 'other' }
    expect(credentialFor(ACCT, env)).toEqual({ kind: 'key', account: 'acct', key: 'a2V5==' })
  })

  it('is the key, then the SAS, of the named account', () => {
    const env = { AZURE_STORAGE_ACCOUNT: 'acct', AZURE_STORAGE_KEY: 'a2V5', AZURE_STORAGE_SAS_TOKEN: 'sv=1&sig=x' }
    expect(credentialFor(ACCT, env)).toEqual({ kind: 'key', account: 'acct', key: 'a2V5' })
    expect(credentialFor(ACCT, { ...env, AZURE_STORAGE_KEY: '' })).toMatchObject({ kind: 'sas', token: 'sv=1&sig=x' })
  })

  it('has the expiry of a SAS, with or without its question mark', () => {
    const env = { AZURE_STORAGE_ACCOUNT: 'acct', AZURE_STORAGE_SAS_TOKEN: '?sv=1&se=2026-01-02T03%3A04%3A05Z&sig=x' }
    expect(credentialFor(ACCT, env)).toMatchObject({
      token: expect.not.stringMatching(/^\?/),
      expiresMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    })
  })

  it('is Entra ID with AZURE_STORAGE_AUTH_MODE=login, whatever key is set, and with the account alone', () => {
    const env = { AZURE_STORAGE_ACCOUNT: 'acct', AZURE_STORAGE_KEY: 'a2V5' }
    expect(credentialFor(ACCT, { ...env, AZURE_STORAGE_AUTH_MODE: 'login' })).toEqual({
      kind: 'entra',
      source: { kind: 'cli' },
    })
    const whole = { AZURE_STORAGE_CONNECTION_STRING: 'AccountName=acct;AccountKey=a2V5' }
    expect(credentialFor(ACCT, { ...whole, AZURE_STORAGE_AUTH_MODE: 'login' })).toEqual({
      kind: 'entra',
      source: { kind: 'cli' },
    })
    expect(credentialFor(ACCT, { AZURE_STORAGE_ACCOUNT: 'acct' })).toEqual({
      kind: 'entra',
      source: { kind: 'default' },
    })
  })

  it.each(['azure:other/orders', 'https://acct.blob.evil.example/orders', 'http://acct.blob.core.windows.net/orders'])(
    'is never a key or SAS of another account or host: %s',
    text => {
      const trusted = { LEASECTL_TRUSTED_HOSTS: 'other.example, acct.blob.evil.example' }
      expect(credentialFor(at(text), { ...trusted, AZURE_STORAGE_CONNECTION_STRING: KEYED }).kind).toBe('entra')
      const env = { ...trusted, AZURE_STORAGE_ACCOUNT: 'acct', AZURE_STORAGE_SAS_TOKEN: 'sig=x' }
      expect(credentialFor(at(text), env).kind).toBe('entra')
    },
  )

  it.each([
    'https://acct.blob.core.windows.net/orders',
    'https://acct.privatelink.blob.core.windows.net/orders',
    'https://acct.z01.blob.storage.azure.net/orders',
    'https://acct.blob.core.usgovcloudapi.net/orders',
    'https://acct.blob.core.chinacloudapi.cn/orders',
  ])('is a token for a host of Azure Storage: %s', text => {
    expect(credentialFor(at(text), {}).kind).toBe('entra')
  })

  it.each([
    'https://evil.example/events',
    'https://acct.blob.core.windows.net.evil.example/events',
    'https://evilblob.core.windows.net/events',
    'https://127.0.0.1:8443/acct/events',
  ])('is never a token for another host unless it is named: %s', text => {
    const host = new URL(text).hostname
    const refused = `${host} is not a host of Azure Storage, so no token of Entra ID is sent there`
    for (const env of [{}, { AZURE_STORAGE_AUTH_MODE: 'login' }, { LEASECTL_TRUSTED_HOSTS: `x${host},,.` }]) {
      expect(() => credentialFor(at(text), env)).toThrow(refused)
    }
    expect(credentialFor(at(text), { LEASECTL_TRUSTED_HOSTS: `a.example,${host}` }).kind).toBe('entra')
    const own = { AZURE_STORAGE_CONNECTION_STRING: `AccountName=acct;BlobEndpoint=${new URL(text).origin}/` }
    expect(credentialFor(at(text), own).kind).toBe('entra')
  })

  it('is the well-known key for the emulator, on any host', () => {
    expect(credentialFor(at('azurite:orders'), {})).toEqual(DEV_KEY)
    expect(credentialFor(at('azurite://host:1234/orders'), { AZURE_STORAGE_CONNECTION_STRING: KEYED })).toEqual(DEV_KEY)
  })

  it.each<[string, CredentialEnvironment, object]>([
    [
      'secret',
      { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 's' },
      { kind: 'client-secret', tenantId: 't', clientId: 'c', secret: 's' },
    ],
    [
      'certificate',
      { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_CERTIFICATE_PATH: 'p' },
      { kind: 'client-certificate', certificatePath: 'p' },
    ],
    [
      'workload',
      { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_FEDERATED_TOKEN_FILE: 'f' },
      { kind: 'workload', tokenFile: 'f' },
    ],
    ['managed', { IDENTITY_ENDPOINT: 'http://x', AZURE_CLIENT_ID: 'c' }, { kind: 'managed', clientId: 'c' }],
    ['chosen', { AZURE_TOKEN_CREDENTIALS: 'prod', IDENTITY_ENDPOINT: 'x' }, { kind: 'default' }],
  ])('uses the named Entra ID credential: %s', (_, env, source) => {
    expect(credentialFor(ACCT, env)).toMatchObject({ kind: 'entra', source })
  })
})

describe('a connection string', () => {
  it('has account, endpoint and key, including keys with equals signs', () => {
    expect(parseConnectionString(KEYED)).toEqual({
      account: 'acct',
      endpoint: 'https://acct.blob.core.windows.net',
      credential: { kind: 'key', account: 'acct', key: 'a2V5==' },
    })
  })

  it('may have only a SAS and an endpoint', () => {
    const text = 'BlobEndpoint=https://acct.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=x'
    expect(parseConnectionString(text)).toMatchObject({
      account: 'acct',
      endpoint: 'https://acct.blob.core.windows.net',
      credential: { kind: 'sas' },
    })
  })

  it('may name the emulator', () => {
    expect(parseConnectionString('UseDevelopmentStorage=true')).toMatchObject({
      account: 'devstoreaccount1',
      credential: DEV_KEY,
    })
  })

  it('without an account is refused without being repeated', () => {
    expect(() => parseConnectionString('AccountKey=CANARY')).toThrow(BadAddress)
    expect(() => parseConnectionString('AccountKey=CANARY')).not.toThrow(/CANARY/)
  })
})

describe('the default address', () => {
  it('is the embedded store in the XDG data folder if no Azure variable is set', () => {
    expect(defaultAddress({ HOME: '/home/ada' })).toEqual({
      kind: 'sqlite',
      path: '/home/ada/.local/share/leasectl/leasectl.db',
    })
    expect(defaultAddress({ HOME: '/home/ada', XDG_DATA_HOME: '/data' })).toEqual({
      kind: 'sqlite',
      path: '/data/leasectl/leasectl.db',
    })
    expect(defaultAddress({ HOME: '/h', XDG_DATA_HOME: 'relative' })).toMatchObject({
      path: '/h/.local/share/leasectl/leasectl.db',
    })
  })

  it('is the container eventstreams, or the named one, of the named account', () => {
    expect(defaultAddress({ AZURE_STORAGE_CONNECTION_STRING: KEYED })).toEqual(at('azure:acct/eventstreams'))
    expect(defaultAddress({ AZURE_STORAGE_ACCOUNT: 'acct', LEASECTL_CONTAINER: 'jobs' })).toEqual(at('azure:acct/jobs'))
    expect(defaultAddress({ AZURE_STORAGE_CONNECTION_STRING: 'UseDevelopmentStorage=true' })).toEqual(
      at('azurite:eventstreams'),
    )
  })
})
