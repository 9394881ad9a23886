import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import {
  BlobServiceClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { given, leased } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { ACCOUNT, connectionStringAt } from '../support/azurite-process.ts'
import { inFile, NOBODY } from '../unit/store/sqlite/support.ts'
import { runInProcess } from './in-process.ts'
import { type Ended, newUser, type User } from './program.ts'

/**
 * Impossible requests: the right code, a helpful message, no secret, and no change. The built program tells each kind of error
 * once; the single executable tells them all.
 */

const MALFORMED = '<Stream>\n  <Event id="00" name="x"\n</Stream>'
const FOREIGN =
  '<Stream><Event id="00" status="inprocess"/><Event id="A-1" name="Ship" prev="00" status="paused"/><Event id="B" prev="00"/></Stream>'
/** In the environment of every case; some use them. */
const KEY = Buffer.from('CANARY-account-key').toString('base64')
const SIGNATURE = `${Buffer.from('CANARY+signature').toString('base64')}+/=`
const CANARY_SAS = `sv=2024-11-04&sr=c&sp=rwl&sig=${encodeURIComponent(SIGNATURE)}`

let user: User
let file: string
let azurite: StreamStore & { container: string }
let port: number

beforeAll(async () => {
  user = await newUser()
  file = join(user.home, 'streams.db')
  await inStore(`sqlite:${file}`, async store => {
    await given(store, 'malformed', MALFORMED)
    await given(store, 'foreign', FOREIGN)
  })
  port = (await sharedAzurite()).port
  azurite = await openAzuriteStore(port)
  const container = BlobServiceClient.fromConnectionString(connectionStringAt(port)).getContainerClient(
    azurite.container,
  )
  await container.getBlockBlobClient('malformed').upload(MALFORMED, MALFORMED.length)
  for (const store of [sqlite(), emulator()]) {
    expect(await user.run(['init', 's', '--fork', 'A,B', ...store])).toMatchObject({ code: 0 })
  }
})
afterAll(async () => {
  await azurite.close()
  user.leave()
})

const sqlite = (path = file): string[] => ['--store', `sqlite:${path}`]
const emulator = (): string[] => ['--store', azurite.address]
const program: User['run'] = (argv, env) => user.run(argv, env)
const inProcess: User['run'] = (argv, env = {}) => runInProcess(user, argv, env)
const words = (line: string): string[] => line.split(' ')

async function inStore<T>(address: string, work: (store: StreamStore) => Promise<T>): Promise<T> {
  const store = await openStore(address, {})
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

interface Expected {
  readonly exit: number
  readonly code: string
  /** In the message, or after a line break in the hint. */
  readonly says: RegExp
  /** Further fields of the error. */
  readonly error?: object
  readonly env?: Record<string, string>
  readonly secrets?: readonly string[]
}

/** Errors that the built program has told: the second time the sources are enough, and one output. */
const told = new Set<string>()

/** Asks as a script, and for each kind of error once as a person would, with the most verbose output. */
async function expectFailure(argv: readonly string[], expected: Expected): Promise<void> {
  const before = await everything()
  const format = argv[0] === 'tail' ? 'ndjson' : 'json'
  const isFirst = !told.has(expected.code)
  const run = isFirst || process.env.LEASECTL_TEST_EXECUTABLE !== undefined ? program : inProcess
  const { message, hint, ...error } = errorOf(await failed(run, [...argv, '-o', format], expected))
  expect(error).toMatchObject({ code: expected.code, exit: expected.exit, applied: 'no', ...expected.error })
  expect(`${message}\n${hint}`).toMatch(expected.says)
  if (isFirst) {
    told.add(expected.code)
    const { stderr } = await failed(program, argv, expected)
    expect(stderr).toContain(`error: ${message}`)
    expect(stderr).toContain(`[${expected.code}]`)
    if (hint !== null) expect(stderr).toContain(`\n  hint     ${hint}\n`)
  }
  expect(await everything()).toEqual(before)
}

async function failed(
  run: User['run'],
  argv: readonly string[],
  { exit, env, secrets = [] }: Expected,
): Promise<Ended> {
  const canaries = { AZURE_STORAGE_KEY: KEY, AZURE_STORAGE_SAS_TOKEN: CANARY_SAS }
  const ended = await run([...argv, '--debug', '-v'], { ...canaries, ...env })
  expect(ended).toMatchObject({ code: exit, stdout: '' })
  for (const secret of [KEY, 'CANARY', SIGNATURE, encodeURIComponent(SIGNATURE), ...secrets])
    expect(ended.stderr).not.toContain(secret)
  return ended
}

/** `-v` and `--debug` add lines to the one line of JSON. */
function errorOf({ stderr }: Ended) {
  const lines = stderr.split('\n').filter(line => line.startsWith('{'))
  expect(lines).toHaveLength(1)
  return JSON.parse(lines.join()).error as Record<string, unknown>
}

/** Everything that could have changed. */
async function everything() {
  return [...(await inStore(`sqlite:${file}`, snapshot)), ...(await snapshot(azurite))]
}

async function snapshot(store: StreamStore) {
  const found: unknown[] = []
  for await (const page of store.list({})) {
    for (const { name } of page) {
      const stored = await store.read(name)
      const body = Buffer.from(stored?.body ?? []).toString()
      found.push({ name, etag: stored?.etag, lease: stored?.lease.state, body })
    }
  }
  expect(found.length).toBeGreaterThan(1)
  return found
}

describe('a malformed document', () => {
  test.each([
    'show malformed',
    'tail malformed',
    'cancel malformed',
    'retry malformed',
    'event set malformed 00 --tag x',
    'init malformed --if-absent',
  ])('%s is reported with stream, line and column', async line => {
    const says = /^malformed: line 3, column 1: /
    await expectFailure([...words(line), ...sqlite()], {
      exit: 12,
      code: 'bad-document',
      says,
      error: { stream: 'malformed' },
    })
  })

  test('among several streams is named, and the others are processed', async () => {
    const store = sqlite(join(user.home, 'several.db'))
    copyFileSync(file, join(user.home, 'several.db'))
    const { code, stdout, stderr } = await user.run(['cancel', 's', 'malformed', ...store])
    expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining('1 of 2 not done') })
    expect(stdout).toMatch(/^s +✓ done/m)
    expect(stdout).toMatch(/^malformed +✗ failed .*line 3/m)
  })

  test('is listed with the others, and can be printed unchanged', async () => {
    const listing = await user.run(['ls', '-o', 'json', ...emulator()])
    expect(listing).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(listing.stdout)).toMatchObject({
      items: [
        { name: 'malformed', status: null, error: { code: 'bad-document' } },
        { name: 's', status: 'inprocess' },
      ],
    })
    const printed = await user.run(['show', 'malformed', '-o', 'xml', ...emulator()])
    expect(printed).toMatchObject({ code: 0, stdout: MALFORMED })
  })
})

test('foreign ids and status words are kept and shown, and do not count as an end', async () => {
  const copy = join(user.home, 'foreign.db')
  copyFileSync(file, copy)
  const set = await user.run(['event', 'set', 'foreign', 'A-1', '--tag', 'x', ...sqlite(copy)])
  expect(set).toMatchObject({ code: 0, stderr: '' })
  const shown = await user.run(['show', 'foreign', ...sqlite(copy)])
  expect(shown.stdout).toMatch(/A-1 Ship +\? paused/)
  expect(shown.stdout).toMatch(/B +\? no status/)
  const { stdout } = await user.run(['show', 'foreign', '-o', 'json', ...sqlite(copy)])
  expect(JSON.parse(stdout)).toMatchObject({
    done: false,
    events: [{ id: '00' }, { id: 'A-1', status: 'paused', tag: 'x' }, { id: 'B', status: null }],
  })
  expect((await user.run(['show', 'foreign', '-o', 'xml', ...sqlite(copy)])).stdout).toContain(' status="paused"')
  const history = await user.run(['tail', 'foreign', ...sqlite(copy)])
  expect(history.stdout).toMatch(/B +\? no status \(added\)/)
})

describe('a missing object is reported:', () => {
  test.each([
    'show nix',
    'tail -f nix',
    'cancel nix',
    'cancel s nix',
    'retry nix',
    'event start nix 00',
    'lease show nix',
    'lease acquire nix',
    'lease break nix --yes',
  ])('a stream with %s', async line => {
    const store = line.startsWith('lease') ? emulator() : sqlite()
    await expectFailure([...words(line), ...store], {
      exit: 3,
      code: 'stream-not-found',
      says: /^there is no stream nix/,
    })
  })

  test('an event', async () => {
    await expectFailure(['cancel', 's', '-e', '09.00', ...sqlite()], {
      exit: 3,
      code: 'event-not-found',
      says: /09\.00/,
    })
    await expectFailure(['event', 'start', 's', '09.00', ...sqlite()], {
      exit: 3,
      code: 'event-not-found',
      says: /09\.00/,
    })
  })

  test.each(['ls', 'event start s 01.00', 'lease show s'])('a container with %s', async line => {
    const store = ['--store', `azurite://127.0.0.1:${port}/no-such-container`]
    const says = /^there is no container no-such-container on 127\.0\.0\.1.*\n.*--create-container/
    await expectFailure([...words(line), ...store], { exit: 3, code: 'container-missing', says })
  })
})

describe('a missing permission is reported:', () => {
  const HOUR_MS = 3_600_000
  const now = Date.now()

  function sas(permissions: string, expiresMs: number): string {
    const key = /AccountKey=([^;]+)/.exec(connectionStringAt(port))?.[1] ?? ''
    const values = {
      containerName: azurite.container,
      permissions: ContainerSASPermissions.parse(permissions),
      startsOn: new Date(now - 2 * HOUR_MS),
      expiresOn: new Date(expiresMs),
    }
    return generateBlobSASQueryParameters(values, new StorageSharedKeyCredential(ACCOUNT, key)).toString()
  }

  function signedBy(token: string) {
    const signature = new URLSearchParams(token).get('sig') ?? ''
    const env = { AZURE_STORAGE_ACCOUNT: ACCOUNT, AZURE_STORAGE_KEY: '', AZURE_STORAGE_SAS_TOKEN: token }
    return { env, secrets: [signature, encodeURIComponent(signature)] }
  }

  test.each(['ls', 'cancel s', 'init t'])('an expired SAS: %s', async line => {
    const end = Math.floor((now - HOUR_MS) / 1_000) * 1_000
    const says = new RegExp(`the SAS expired at ${new Date(end).toISOString()}`)
    const expected = { exit: 4, code: 'not-permitted', says, ...signedBy(sas('racwdl', end)) }
    await expectFailure([...words(line), ...emulator()], expected)
  })

  test.each(['cancel s', 'init t', 'lease acquire s'])('a SAS without write permission: %s', async line => {
    const signed = signedBy(sas('rl', now + HOUR_MS))
    expect(await user.run(['show', 's', ...emulator()], signed.env)).toMatchObject({ code: 0 })
    const expected = { exit: 4, code: 'not-permitted', says: /no access to container/, ...signed }
    await expectFailure([...words(line), ...emulator()], expected)
  })

  test.each(['show s', 'cancel s'])('a wrong key or signature: %s', async line => {
    const key = { AZURE_STORAGE_ACCOUNT: ACCOUNT }
    for (const env of [key, { ...key, AZURE_STORAGE_KEY: '' }]) {
      const expected = {
        exit: 4,
        code: 'not-permitted',
        says: /no access to container.*\n.*key or signature/,
        env,
      }
      await expectFailure([...words(line), ...emulator()], expected)
    }
  })

  test('a secret in the address, which is not repeated', async () => {
    for (const secret of [
      `https://acct.blob.core.windows.net/orders?${CANARY_SAS}`,
      `AccountName=x;AccountKey=${KEY}`,
    ]) {
      const says = /must not carry a signature or key/
      await expectFailure(['ls', '--store', secret], { exit: 2, code: 'bad-address', says })
      await expectFailure(['ls'], { exit: 2, code: 'bad-address', says, env: { LEASECTL_STORE: secret } })
    }
  })

  test('a connection string without an account, which is not repeated', async () => {
    const env = { AZURE_STORAGE_CONNECTION_STRING: `AccountKey=${KEY}` }
    const says = /AZURE_STORAGE_CONNECTION_STRING names no storage account/
    await expectFailure(['ls'], { exit: 2, code: 'bad-address', says, env })
  })
})

test.each(['ls', 'cancel s'])('a host that does not answer is reported: %s', async line => {
  const deaf = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => deaf.listen(0, '127.0.0.1', resolve))
  const { port: free } = deaf.address() as { port: number }
  await new Promise(resolve => deaf.close(resolve))
  const says = new RegExp(`127.0.0.1:${free} does not answer: ECONNREFUSED`)
  const store = ['--store', `http://127.0.0.1:${free}/acct/orders`]
  await expectFailure([...words(line), ...store], {
    exit: 9,
    code: 'store-unreachable',
    says,
    env: {
      AZURE_STORAGE_CONNECTION_STRING: `AccountName=acct;AccountKey=${KEY};BlobEndpoint=http://127.0.0.1:${free}/acct`,
    },
  })
})

describe('a lease', () => {
  test('of another is reported with its holder', async () => {
    for (const address of [`sqlite:${file}`, azurite.address]) {
      await inStore(address, async store => {
        const id = await leased(store, 's', 'grace')
        for (const line of ['cancel s', 'event set s 01.00 --tag x', 'retry s']) {
          await expectFailure([...words(line), '--lease-wait', '0s', '--store', address], {
            exit: 6,
            code: 'lease-held',
            says: /^s is leased by another; nothing was changed/,
            error: { retryable: true, holder: { by: 'grace', host: 'host-1', pid: 4711, purpose: "grace's test" } },
          })
        }
        await expectFailure(['lease', 'acquire', 's', '--store', address], {
          exit: 6,
          code: 'lease-held',
          says: /^s is already leased\n/,
          error: { holder: { by: 'grace' } },
        })
        await store.releaseLease('s', id)
      })
    }
  })

  test('that was broken during a script is reported as lost', async () => {
    for (const address of [`sqlite:${file}`, azurite.address]) {
      const store = ['--store', address]
      const id = (await user.run(['lease', 'acquire', 's', ...store])).stdout.trim()
      expect(id).toMatch(/^[0-9a-f-]{36}$/)
      const held = await user.run(['event', 'set', 's', '01.00', '--tag', 'held', '--lease-id', id, ...store])
      expect(held).toMatchObject({ code: 0 })
      expect(await user.run(['lease', 'break', 's', '--yes', ...store])).toMatchObject({ code: 0 })
      const says = /the given lease is not the lease of s/
      for (const line of ['event set s 01.00 --tag lost', 'cancel s', 'lease renew s', 'lease change s'])
        await expectFailure([...words(line), '--lease-id', id, ...store], { exit: 11, code: 'lease-lost', says })
    }
  })

  test('that never existed is reported as lost', async () => {
    const says = /the given lease is not the lease of s/
    for (const store of [sqlite(), emulator()])
      await expectFailure(['cancel', 's', '--lease-id', randomUUID(), ...store], { exit: 11, code: 'lease-lost', says })
  })
})

describe('a SQLite file', () => {
  /** A damaged copy of the store. */
  function spoilt(spoil: (path: string) => void): string {
    const path = join(user.home, `${randomUUID()}.db`)
    copyFileSync(file, path)
    spoil(path)
    return path
  }

  test.each([
    [
      'that is not a database',
      (path: string) => writeFileSync(path, 'hello '.repeat(1_000)),
      'store-damaged',
      /is not a SQLite database/,
    ],
    [
      'that is truncated',
      (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 5_000)),
      'store-damaged',
      /damaged|read to its end/,
    ],
    [
      'of another program',
      (path: string) => inFile(path, db => db.exec('PRAGMA application_id = 7')),
      'store-damaged',
      /not|other/,
    ],
    [
      'of a newer leasectl',
      (path: string) => inFile(path, db => db.exec('PRAGMA user_version = 99')),
      'store-incompatible',
      /newer/,
    ],
  ])('%s is reported', async (_what, spoil, code, says) => {
    const path = spoilt(spoil)
    const before = readFileSync(path)
    for (const line of ['ls', 'cancel s', 'init t'])
      await expectFailure([...words(line), ...sqlite(path)], { exit: 12, code, says })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('that is a folder, or below a file, is reported', async () => {
    mkdirSync(join(user.home, 'folder'))
    await expectFailure(['ls', ...sqlite(join(user.home, 'folder'))], {
      exit: 2,
      code: 'bad-address',
      says: /is a folder/,
    })
    await expectFailure(['init', 't', ...sqlite(join(file, 'x.db'))], {
      exit: 2,
      code: 'bad-address',
      says: /cannot be a store/,
    })
  })

  test.skipIf(process.getuid?.() !== 0)('that is read-only can be read, and refuses writes', async () => {
    const path = spoilt(() => {})
    chmodSync(path, 0o444)
    const folder = await asNobody(path)
    expect(await folder('show', 's')).toMatchObject({ code: 0 })
    const before = readFileSync(path)
    const refused = await folder('cancel', 's', '-o', 'json')
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(errorOf(refused)).toMatchObject({
      code: 'not-permitted',
      applied: 'no',
      message: expect.stringContaining('read-only'),
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  /** Runs as a user to whom file permissions apply; root may write everything. */
  async function asNobody(path: string) {
    chmodSync(user.home, 0o755)
    return (...argv: string[]) =>
      user.shell(
        `exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups leasectl "$@"`.replace(
          '"$@"',
          [...argv, ...sqlite(path)].map(word => `'${word}'`).join(' '),
        ),
      ).ended
  }

  const disk = canMount()
  test.skipIf(!disk)(
    'on a full disk keeps its state, and works again when there is room (skipped if mounting is impossible)',
    async () => {
      const folder = join(user.home, 'disk')
      mkdirSync(folder)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
      try {
        const store = sqlite(join(folder, 'streams.db'))
        expect(await user.run(['init', 's', '--fork', 'A,B', ...store])).toMatchObject({ code: 0 })
        const ballast = join(folder, 'ballast')
        execFileSync('sh', ['-c', `cat /dev/zero > '${ballast}' 2>/dev/null || true`])
        await expectFailure(['event', 'set', 's', '00', '--tag', 'x', ...store], {
          exit: 9,
          code: 'store-full',
          says: /no room left/,
        })
        expect(await user.run(['show', 's', '-o', 'json', ...store])).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('"version": 1,'),
        })
        execFileSync('rm', [ballast])
        expect(await user.run(['event', 'set', 's', '00', '--tag', 'y', ...store])).toMatchObject({ code: 0 })
      } finally {
        execFileSync('umount', [folder])
      }
    },
  )
})

function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.each([
  [['show', ''], 'usage', /name of the stream is empty/],
  [['cancel', '01.02.00'], 'usage', /did you mean -e 01\.02\.00/],
  [['init', '.leasectl/x'], 'invalid-value', /reserved/],
  [['init', 'a/../b'], 'invalid-value', /"\." or "\.\." segment/],
  [['init', 'a/'], 'invalid-value', /ends with "\/"/],
  [['init', 'a\u001b[31m'], 'invalid-value', /control character/],
  [['init', 'x'.repeat(1_025)], 'invalid-value', /1025 characters/],
  [['event', 'start', 's', ''], 'usage', /id of the event is empty/],
  [['cancel', 's', '-e', ''], 'usage', /id of the event is empty/],
] as const)('an invalid name is refused: %j', async (argv, code, says) => {
  await expectFailure([...argv, ...sqlite()], { exit: 2, code, says })
})
