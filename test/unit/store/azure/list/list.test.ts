import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RequestTimeouts } from '../../../../../src/store/azure/requests.ts'
import { ContainerMissing, NotPermitted, StoreIncompatible, StoreUnreachable } from '../../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../../src/store/store.ts'
import { given, listed, namesOf } from '../../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../../../../support/fault-proxy.ts'
import { blobXml, listXml } from '../../../../support/list-xml.ts'
import { limitToEnd, PATIENT } from '../support.ts'

const names = Array.from({ length: 60 }, (_, i) => `${['a/', 's/', ''][i % 3]}${String(i).padStart(2, '0')}`).sort()

describe('listing through the service', () => {
  let store: StreamStore & { container: string }
  let proxy: FaultProxy

  beforeAll(async () => {
    const { port, connectionString } = await sharedAzurite()
    proxy = await startFaultProxy({ target: { port } })
    store = await openAzuriteStore(proxy.port, { random: () => 0, ...PATIENT })
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(store.container)
    for (const name of names)
      await container.getBlockBlobClient(name).upload(name, name.length, { metadata: { K: 'v&<' } })
  })

  afterAll(async () => {
    await store.close()
    await proxy.stop()
  })

  afterEach(() => proxy.heal())

  const paged = (pageSize: number) => openAzuriteStore(proxy.port, { container: store.container, pageSize })

  it('requests page by page, and only as far as it is read', async () => {
    proxy.reset()
    expect(await namesOf(store, { limit: 3 })).toEqual(names.slice(0, 3))
    expect(proxy.count('list')).toBe(1)
    expect(proxy.requests[0]?.query.get('maxresults')).toBe('13')
    expect(proxy.requests[0]?.query.get('include')).toBe('metadata')
  })

  it('requests larger pages if small ones have no wanted row', async () => {
    proxy.reset()
    expect(await namesOf(store, { limit: 1, skip: name => name !== names[50] })).toEqual([names[50]])
    expect(proxy.requests.map(({ query }) => query.get('maxresults'))).toEqual(['11', '44'])
  })

  it('continues after a name without reading the pages before it', async () => {
    proxy.reset()
    expect(await namesOf(store, { after: 's/52' })).toEqual(['s/55', 's/58'])
    expect(proxy.requests[0]?.query.get('startFrom')).toBe('s/52')
  })

  it('starts within the prefix, or not at all', async () => {
    proxy.reset()
    expect(await namesOf(store, { prefix: 's/', after: 'b' })).toHaveLength(20)
    expect(proxy.requests[0]?.query.get('startFrom')).toBeNull()
    expect(await namesOf(store, { prefix: 'a/', after: 'b' })).toEqual([])
    expect(proxy.count('list')).toBe(1)
  })

  it.each([7, 60])('lists all streams in any order, each once, in pages of %d', async pageSize => {
    const by = await paged(pageSize)
    const rows = await listed(by, { order: 'any' })
    expect(rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(await listed(store))
    const etags = new Map(rows.map(row => [row.name, row.etag]))
    const asked: string[] = []
    const skip = (name: string, etag: string) => asked.push(name) > 0 && etag === etags.get(name)
    expect(await listed(by, { order: 'any', skip })).toEqual([])
    expect(asked.toSorted()).toEqual(names)
    expect((await namesOf(by, { order: 'any', prefix: 's/', after: 's/20' })).toSorted()).toEqual(
      names.filter(name => name > 's/20'),
    )
    expect(await namesOf(by, { order: 'any', limit: 3 })).toHaveLength(3)
    await by.close()
  })

  it('reads several pages in parallel in any order', async () => {
    const by = await paged(4)
    proxy.reset()
    expect(await namesOf(by, { order: 'any' })).toHaveLength(60)
    expect(proxy.rounds).toBeLessThan(proxy.count('list'))
    expect(proxy.requests.some(({ query }) => query.has('startFrom') && query.get('maxresults') === '4')).toBe(true)
    await by.close()
  })

  it('passes over the pages of reserved names', async () => {
    const other = await openAzuriteStore(proxy.port, { pageSize: 5 })
    for (let at = 10; at < 70; at++) await given(other, `.leasectl/data/${at}`)
    const streams = ['!', 'a', 'b', 'c']
    for (const stream of streams) await given(other, stream)
    for (const order of ['name', 'any'] as const) {
      proxy.reset()
      expect((await namesOf(other, { order })).toSorted()).toEqual(streams)
      expect(proxy.count('list')).toBe(2)
    }
    expect(await namesOf(other, { prefix: 'b' })).toEqual(['b'])
    expect(await namesOf(other, { reserved: true, order: 'any' })).toHaveLength(60)
    await other.close()
  })

  it('throws an error of its request and requests no page again', async () => {
    proxy.reset()
    const skip = () => {
      throw new Error('out of memory')
    }
    await expect(listed(store, { skip, prefix: 's/' })).rejects.toThrow('out of memory')
    // A page of an earlier, canceled listing may still arrive at the proxy: it has no prefix.
    expect(proxy.requests.filter(({ query }) => query.get('prefix') === 's/')).toHaveLength(1)
    expect(await namesOf(store)).toEqual(names)
  })

  it.each(['lose-request', 'lose-answer', 'error-before', 'truncate'] as const)(
    '%s: the page is requested again, each stream once',
    async kind => {
      for (const order of ['name', 'any'] as const) {
        const by = await paged(25)
        proxy.reset()
        proxy.add({ kind, on: 'list', nth: 2, times: 1 })
        const asked: string[] = []
        const found = await namesOf(by, { order, skip: name => asked.push(name) < 0 })
        expect(found.toSorted()).toEqual(names)
        expect(asked.toSorted()).toEqual(names)
        expect(proxy.injected).toHaveLength(1)
        await by.close()
      }
    },
  )

  it('gives up a page that never arrives completely, with the rows it had before', async () => {
    const by = await paged(25)
    proxy.reset()
    const found: string[] = []
    const all = async () => {
      for await (const page of by.list({})) {
        found.push(...page.map(row => row.name))
        proxy.add({ kind: 'truncate', on: 'list' })
      }
    }
    await expect(all()).rejects.toThrow(StoreUnreachable)
    expect(found).toEqual(names.slice(0, 25))
    expect(proxy.injected).toHaveLength(3)
    await by.close()
  })

  it.each(['name', 'any', 'due'] as const)('by %s can be canceled at any blob, and the store works on', async order => {
    const by = await paged(25)
    for (const at of names.filter((_, i) => i % 10 === 0)) {
      const controller = new AbortController()
      const skip = (name: string) => {
        if (name === at) controller.abort(new Error('enough'))
        return true
      }
      const given = listed(by, { order, skip, signal: controller.signal })
      // On the last page there is nothing left to cancel.
      if (at < (names[50] ?? '')) await expect(given).rejects.toThrow('enough')
      else await given.catch(error => expect(error).toHaveProperty('message', 'enough'))
    }
    expect(await namesOf(by)).toEqual(names)
    await by.close()
  })

  it('updates the clock of the service', async () => {
    const ahead = 3_600_000
    const machine = { wallMs: () => Date.now() - ahead, monotonicMs: () => performance.now() }
    const by = await openAzuriteStore(proxy.port, { container: store.container, machine })
    await namesOf(by)
    expect(Math.abs(by.nowMs() - Date.now())).toBeLessThan(60_000)
    await by.close()
  })
})

describe('listing a service with unusual answers', () => {
  const services: Server[] = []
  const opened: StreamStore[] = []

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    for (const service of services.splice(0)) service.close().closeAllConnections()
  })

  async function answering(
    answer: (response: ServerResponse, asked: number) => unknown,
    limits: Partial<RequestTimeouts> = PATIENT.limits,
  ): Promise<StreamStore> {
    let asked = 0
    const service = createServer((_, response) => {
      asked += 1
      response.setHeader('content-type', 'application/xml').setHeader('x-ms-request-id', 'r')
      answer(response, asked)
    })
    services.push(service)
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    const store = await openAzuriteStore(port, { container: 'orders', random: () => 0, limits })
    opened.push(store)
    return store
  }

  const saying = (status: number, code: string) => (response: ServerResponse) => {
    response.writeHead(status, { 'x-ms-error-code': code })
    response.end(`<Error><Code>${code}</Code><Message>CANARY</Message></Error>`)
  }

  it.each([
    [403, 'AuthenticationFailed', NotPermitted],
    [401, 'NoAuthenticationInformation', NotPermitted],
    [404, 'ContainerNotFound', ContainerMissing],
    [409, 'ContainerBeingDeleted', ContainerMissing],
    [400, 'InvalidQueryParameterValue', StoreIncompatible],
    [500, 'OperationTimedOut', StoreUnreachable],
    [503, 'ServerBusy', StoreUnreachable],
  ] as const)('%d %s is an error of its kind, in any order', async (status, code, kind) => {
    const store = await answering(saying(status, code))
    for (const order of ['name', 'any', 'due'] as const) {
      const error: unknown = await listed(store, { order }).catch(thrown => thrown)
      expect(error).toBeInstanceOf(kind)
      expect(String(error)).not.toContain('CANARY')
    }
  })

  it('never passes a page to the parser of the SDK, which would refuse this one', async () => {
    const broken = listXml([blobXml()]).replace('</Blobs>', '</Blobs><Unclosed>')
    expect(await namesOf(await answering(response => response.end(broken)))).toEqual(['a'])
  })

  it('refuses at once an answer that is not a listing, and requests an incomplete one again', async () => {
    let requests = 0
    const store = await answering((response, asked) => {
      requests = asked
      response.end('<html>Sign in</html>')
    })
    await expect(listed(store)).rejects.toThrow(StoreIncompatible)
    expect(requests).toBe(1)
    const cut = await answering((response, asked) => {
      requests = asked
      response.end(listXml([blobXml()]).slice(0, asked === 3 ? undefined : -5))
    })
    expect(await namesOf(cut)).toEqual(['a'])
    expect(requests).toBe(3)
  })

  it('continues after the last blob it had, whatever changed meanwhile', async () => {
    const page = (...all: string[]) => listXml(all.map(name => blobXml({ name: `<Name>${name}</Name>` })))
    const tries = [page('b', 'c', 'd').slice(0, -5), page('a', 'b', 'x').slice(0, -5), page('a', 'x', 'z')]
    const store = await answering((response, asked) => response.end(tries[asked - 1]))
    const asked: string[] = []
    expect(await namesOf(store, { skip: name => asked.push(name) < 0 })).toEqual(['b', 'c', 'd', 'x', 'z'])
    expect(asked).toEqual(['b', 'c', 'd', 'x', 'z'])
  })

  it('yields rows while their page arrives, in any order, and none twice if it is read again', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `s/${1_000 + i}`)
    const whole = listXml(many.map(name => blobXml({ name: `<Name>${name}</Name>` })))
    let tries = 0
    const store = await answering((response, asked) => {
      tries = asked
      response.end(asked === 3 ? whole : whole.slice(0, whole.indexOf(asked === 1 ? 's/1350' : 's/1780')))
    })
    const pages: number[] = []
    const found: string[] = []
    const asked: string[] = []
    for await (const page of store.list({ order: 'any', skip: name => asked.push(name) < 0 })) {
      if (found.length === 0) expect(tries).toBe(1)
      pages.push(page.length)
      found.push(...page.map(row => row.name))
    }
    expect(found).toEqual(many)
    expect(asked).toEqual(many)
    expect(Math.max(...pages)).toBeLessThanOrEqual(100)
    expect(tries).toBe(3)
  })

  it('yields whole pages by name: the caller knows when each was taken', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => blobXml({ name: `<Name>s/${1_000 + i}</Name>` }))
    const store = await answering(response => response.end(listXml(many)))
    const pages = await Array.fromAsync(store.list({}))
    expect(pages.map(page => page.length)).toEqual([1_000])
  })

  it('reads a hierarchical namespace as one part without its directories, also from a truncated page', async () => {
    const kind = (type: string) => ({ properties: `<ResourceType>${type}</ResourceType>` })
    const file = (name: string) => blobXml({ name: `<Name>${name}</Name>`, ...kind('file') })
    const none = '<Content-Length>0</Content-Length>'
    const blobs = [blobXml({ name: '<Name>d</Name>', length: none, ...kind('directory') }), file('d/x'), file('d-y')]
    const whole = listXml(blobs)
    const asked: string[] = []
    const store = await answering((response, tries) => response.end(tries === 1 ? whole.slice(0, -5) : whole))
    expect(await namesOf(store, { order: 'any', skip: name => asked.push(name) < 0 })).toEqual(['d/x', 'd-y'])
    expect(asked).toEqual(['d/x', 'd-y'])
  })

  it('times out an answer that stalls, at its start and in the middle', async () => {
    const whole = listXml([blobXml()])
    const endLimit = limitToEnd()
    let requests = 0
    const late = await answering((response, asked) => {
      requests = asked
      if (asked === 1) endLimit()
      if (asked === 2) response.write(whole.slice(0, -5))
      if (asked === 3) response.end(whole)
    })
    // The only blob is delivered when it arrives, the rest of its page never does.
    const skip = () => {
      setImmediate(endLimit)
      return false
    }
    expect(await namesOf(late, { skip })).toEqual(['a'])
    expect(requests).toBe(3)
    const silent = await answering(() => {}, { pageMs: 20 })
    await expect(listed(silent)).rejects.toThrow(/does not answer: TimedOut/)
  })

  it('can be canceled while an answer stalls', async () => {
    for (const order of ['name', 'any'] as const) {
      const controller = new AbortController()
      const store = await answering(response => {
        response.write(listXml([blobXml()]).slice(0, -5))
        setImmediate(() => controller.abort(new Error('enough')))
      })
      await expect(listed(store, { order, signal: controller.signal })).rejects.toThrow('enough')
    }
  })
})
