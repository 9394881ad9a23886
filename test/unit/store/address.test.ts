import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountUrl, formatAddress, parseAddress, type StoreAddress } from '../../../src/store/address.ts'
import { BadAddress } from '../../../src/store/errors.ts'

describe('parseAddress', () => {
  it.each<[string, StoreAddress]>([
    ['memory:', { kind: 'memory' }],
    ['sqlite:./a b/x.db', { kind: 'sqlite', path: './a b/x.db' }],
    ['sqlite:C:\\x.db', { kind: 'sqlite', path: 'C:\\x.db' }],
    ['azurite:orders', { kind: 'azurite', host: '127.0.0.1', port: 10000, container: 'orders' }],
    ['azurite://127.0.0.1:10100/orders', { kind: 'azurite', host: '127.0.0.1', port: 10100, container: 'orders' }],
    ['azurite://blob.test/orders', { kind: 'azurite', host: 'blob.test', port: 10000, container: 'orders' }],
    [
      'azure:acct/orders',
      { kind: 'azure', endpoint: 'https://acct.blob.core.windows.net', account: 'acct', container: 'orders' },
    ],
    [
      'https://acct.blob.core.windows.net/orders/',
      { kind: 'azure', endpoint: 'https://acct.blob.core.windows.net', account: 'acct', container: 'orders' },
    ],
    [
      'https://acct.blob.core.chinacloudapi.cn/orders',
      { kind: 'azure', endpoint: 'https://acct.blob.core.chinacloudapi.cn', account: 'acct', container: 'orders' },
    ],
    [
      'http://127.0.0.1:10000/devstoreaccount1/orders',
      { kind: 'azurite', host: '127.0.0.1', port: 10000, container: 'orders' },
    ],
    [
      'http://azurite:10000/devstoreaccount1/orders',
      { kind: 'azurite', host: 'azurite', port: 10000, container: 'orders' },
    ],
    [
      'http://localhost:9000/other/orders',
      { kind: 'azure', endpoint: 'http://localhost:9000/other', account: 'other', container: 'orders' },
    ],
    ['azurite:', { kind: 'azurite', host: '127.0.0.1', port: 10000, container: 'eventstreams' }],
    ['azurite://localhost:10001/', { kind: 'azurite', host: 'localhost', port: 10001, container: 'eventstreams' }],
    [
      'azure:acct/$root',
      { kind: 'azure', endpoint: 'https://acct.blob.core.windows.net', account: 'acct', container: '$root' },
    ],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
    expect(parseAddress(formatAddress(address))).toEqual(address)
  })

  it.each([
    '',
    'orders',
    'sqlite:',
    'memory:x',
    'redis:x',
    'azure:acct',
    'azure:acct/orders/42',
    'azure:Acct/orders',
    'azure:a/orders',
    'azurite:UPPER',
    'azurite:a--b',
    'azurite:ab',
    `azurite:${'a'.repeat(64)}`,
    'azurite://host:99999/orders',
    'https://acct.blob.core.windows.net/',
    'https://acct.blob.core.windows.net/orders/42',
    'https://acct.blob.core.windows.net/orders?restype=container',
    'https://user:word@acct.blob.core.windows.net/orders',
    'http://127.0.0.1:10000/orders',
  ])('refuses %j and lists the valid forms', text => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({ code: 'bad-address', hint: expect.stringContaining('azurite:') }),
    )
  })

  it.each([
    ['azure:a/orders', 'the account "a" is not valid: 3 to 24 lower-case letters and digits'],
    ['azure:Acct/orders', 'the account "Acct" is not valid'],
    ['azure:/orders', 'the account is missing'],
    ['azure:acct', 'the container is missing'],
    ['azure:acct/Orders', 'the container "Orders" is not valid: 3 to 63 lower-case letters, digits or single hyphens'],
    ['azure:acct/orders/42', 'nothing may follow the container "orders"'],
    ['azure:devstoreaccount1/orders', 'devstoreaccount1 is the account of the emulator: use azurite:orders'],
    ['http://127.0.0.1:10000/a/orders', 'the account "a" is not valid'],
  ])('the error for %s names the wrong part', (text, why) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ message: expect.stringContaining(why) }))
  })

  it.each([
    'https://acct.blob.core.windows.net/orders?sv=2024&sig=CANARY',
    'https://acct.blob.core.windows.net/orders?sig=CANARY%3D',
    'DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=CANARY==',
    'BlobEndpoint=https://x;SharedAccessSignature=sv=1&sig=CANARY',
    'https://user:CANARY@acct.blob.core.windows.net/orders',
    'https://acct.blob.core.windows.net/a/b/c?x=CANARY',
    'https://acct.blob.core.windows.net/orders#CANARY',
    'azure:acct/Orders?x=CANARY',
    'azure:acct/orders?x=CANARY/more',
    'azure:a?x=CANARY/orders',
  ])('refuses an address with a secret without repeating it (%#)', text => {
    const thrown = catching(() => parseAddress(text))
    expect(thrown).toBeInstanceOf(BadAddress)
    expect(`${thrown} ${(thrown as BadAddress).hint}`).not.toContain('CANARY')
  })

  it('throws only BadAddress, whatever the text', () => {
    const scheme = fc.constantFrom('', 'azure:', 'azurite:', 'azurite://', 'http://', 'https://', 'sqlite:', 'memory:')
    fc.assert(
      fc.property(scheme, fc.string(), (head, tail) => {
        const thrown = catching(() => parseAddress(head + tail))
        return thrown === undefined || thrown instanceof BadAddress
      }),
    )
  })
})

describe('formatAddress', () => {
  it('gives equal stores the same text', () => {
    const same = (texts: string[]) => new Set(texts.map(text => formatAddress(parseAddress(text))))
    expect(same(['azure:acct/orders', 'https://acct.blob.core.windows.net/orders'])).toEqual(
      new Set(['azure:acct/orders']),
    )
    expect(
      same(['azurite:orders', 'azurite://127.0.0.1:10000/orders', 'http://127.0.0.1:10000/devstoreaccount1/orders']),
    ).toEqual(new Set(['azurite:orders']))
  })

  it('writes an address without a short form as its URL', () => {
    const text = 'https://acct.blob.core.usgovcloudapi.net/orders'
    expect(formatAddress(parseAddress(text))).toBe(text)
  })
})

describe('accountUrl', () => {
  it.each([
    ['azurite:orders', 'http://127.0.0.1:10000/devstoreaccount1'],
    ['azure:acct/orders', 'https://acct.blob.core.windows.net'],
    ['http://localhost:9000/other/orders', 'http://localhost:9000/other'],
  ])('is built for %s', (text, url) => {
    const address = parseAddress(text)
    if (address.kind !== 'azure' && address.kind !== 'azurite') throw new Error(address.kind)
    expect(accountUrl(address)).toBe(url)
  })
})

function catching(work: () => unknown): unknown {
  try {
    work()
    return undefined
  } catch (thrown) {
    return thrown
  }
}
