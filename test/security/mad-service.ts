import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseAddress } from '../../src/store/address.ts'
import { credentialFor } from '../../src/store/azure/credential.ts'
import { openAzureBlobStore } from '../../src/store/azure/store.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { connectionStrings, hitsIn, KEY, SAS } from './canaries.ts'

/** Possible answers of a faulty service: each repeats the request with its signature. */
export const ANSWERS = {
  'not permitted': [403, 'AuthenticationFailed'],
  'no container': [404, 'ContainerNotFound'],
  'a bad request': [400, 'InvalidHeaderValue'],
  'no XML': [200, ''],
  'a lease of others': [409, 'LeaseAlreadyPresent'],
  'another ETag': [412, 'ConditionNotMet'],
  'a fault of its own': [500, 'InternalError'],
  'a reset connection': [0, ''],
} as const
export type Answer = keyof typeof ANSWERS
export type Way = 'key' | 'SAS'

/** Answers that a driver retries while it has time: the error of the network or the service is then the cause of ours. */
export const SILENT: readonly Answer[] = ['no XML', 'a fault of its own', 'a reset connection']

/** The speed of time for the driver: the 30 s limit of a change is 0.3 s. */
const HURRY = 100

/** Gives the same answer to every request, and counts signed ones. */
export class MadService {
  says: Answer = 'not permitted'
  signed = 0
  endpoint = ''
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const { url = '', headers } = request
      if (hitsIn(url).length > 0 || headers.authorization?.startsWith('SharedKey ')) this.signed += 1
      request.resume()
      if (this.says === 'a reset connection') {
        request.socket.resetAndDestroy()
        return
      }
      const [status, code] = ANSWERS[this.says]
      const echo = `${url} ${headers.authorization} ${SAS} AccountKey=${KEY}`.replaceAll('&', '&amp;')
      const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${echo}</Message><Detail>${echo}</Detail></Error>`
      const told = code === '' ? {} : { 'x-ms-error-code': code }
      response
        .writeHead(status, {
          'x-ms-request-id': 'r',
          ...told,
          'content-type': 'application/xml',
          date: new Date().toUTCString(),
        })
        .end(body)
    })
  }

  async start(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    this.endpoint = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/acct`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  connectionString(way: Way): string {
    return connectionStrings(this.endpoint)[way]
  }

  /** A driver of its own, so that none knows of an outage that another detected. */
  async store(way: Way): Promise<StreamStore> {
    const address = parseAddress(`${this.endpoint}/events`)
    if (address.kind !== 'azure' && address.kind !== 'azurite') throw new Error(`no container: ${address.kind}`)
    const credential = credentialFor(address, { AZURE_STORAGE_CONNECTION_STRING: this.connectionString(way) })
    const machine = { wallMs: () => Date.now(), monotonicMs: () => performance.now() * HURRY }
    return openAzureBlobStore({ address, credential, machine, random: () => 0 })
  }
}
