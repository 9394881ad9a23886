import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { contextsPath, readContexts, updateContexts, withContext } from '../../../../src/cli/contexts/contexts.ts'
import { credentialEnvironment, needsSignIn } from '../../../../src/cli/contexts/credentials.ts'
import { contextsFor } from '../../../../src/cli/store.ts'
import { readPrivateFile } from '../../../../src/cli/user-files.ts'
import { parseAddress } from '../../../../src/store/address.ts'
import { credentialFor } from '../../../../src/store/azure/credential.ts'
import { cli, json, newWorld } from '../support.ts'

let folder = ''
const env = () => ({ XDG_CONFIG_HOME: folder })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-contexts-'))
  mkdirSync(join(folder, 'leasectl'), { mode: 0o700 })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(text: string, mode = 0o600): string {
  const path = contextsPath(env())
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const context = (name: string) =>
  ({ name, store: 'azurite:box', isProtected: false, isReadOnly: false, credentialFile: undefined }) as const

describe('reading', () => {
  test('gives no contexts without a file', () => {
    expect(readContexts(env()).byName.size).toBe(0)
    expect(readContexts({ HOME: join(folder, 'nowhere') }).byName.size).toBe(0)
  })

  test('returns what was written, whatever the order of its keys', () => {
    write(
      '{"contexts": {"b": {"protected": true, "store": "https://acc1.blob.core.windows.net/box"}, "a.1": {"store": "sqlite:/x.db", "protected": null}}, "current": "b"}',
    )
    const { current, previous, byName } = readContexts(env())
    expect({ current, previous }).toEqual({ current: 'b', previous: undefined })
    expect([...byName.values()]).toEqual([
      { name: 'b', store: 'azure:acc1/box', isProtected: true, isReadOnly: false, credentialFile: undefined },
      { name: 'a.1', store: 'sqlite:/x.db', isProtected: false, isReadOnly: false, credentialFile: undefined },
    ])
  })

  test.each([
    ['{', 'is not JSON', 'add the contexts again'],
    ['', 'is not JSON', 'add the contexts again'],
    ['[]', 'is not an object', 'Repair the file'],
    ['{"contexts": []}', 'contexts is not an object', 'Repair the file'],
    ['{"curent": "x"}', '"curent" is not known', 'did you mean current?'],
    [
      '{"contexts": {"p": {"store": "azurite:box", "protect": true}}}',
      'p: "protect" is not known',
      'did you mean protected?',
    ],
    ['{"contexts": {"p": {"store": "azurite:box", "key": "SECRET"}}}', 'p: "key" is not known', 'Known are store'],
    ['{"contexts": {"p": {"store": "azurite:box", "protected": "yes"}}}', 'p: protected is not true or false', ''],
    ['{"contexts": {"p": {"store": 1}}}', 'p: store is not a text', ''],
    ['{"contexts": {"p": {}}}', 'p: "store" is missing', ''],
    ['{"contexts": {"p": {"store": "nix:x"}}}', 'p: "nix:x" is not a store address', 'Use sqlite:PATH'],
    ['{"contexts": {"p": {"store": "azure:acc1/box?sig=SECRET"}}}', 'p: an address must not carry', 'AZURE_STORAGE'],
    ['{"contexts": {"p": {"store": "sqlite:x.db"}}}', 'is a relative path', 'write an absolute path'],
    [
      '{"contexts": {"p": {"store": "azurite:box", "credentialFile": "k"}}}',
      'is a relative path',
      'write an absolute path',
    ],
    ['{"contexts": {"a b": {"store": "azurite:box"}}}', 'does not take "a b"', 'letters'],
    ['{"contexts": {"__proto__": {"store": "azurite:box"}}}', 'does not take "__proto__"', 'letters'],
    ['{"current": 1}', 'current is not a text', ''],
  ])('refuses %s with its position and the right form', async (text, message, hint) => {
    const path = write(text)
    const ran = await cli(newWorld(), ['context', 'list', '-o', 'json'], { env: env() })
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    const { error } = json(ran.stderr) as { error: { message: string; hint: string | null; code: string } }
    expect(error.code).toBe('usage')
    expect(error.message).toContain(message)
    expect(error.message).toContain(path)
    expect(error.hint ?? '').toContain(hint)
    expect(ran.stderr).not.toContain('SECRET')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test.each([
    [0o644, 'is readable by others (mode 0644)'],
    [0o640, 'is readable by others (mode 0640)'],
    [0o622, 'is writable or executable by others (mode 0622)'],
  ])('refuses a file of mode %o with the command that fixes it', async (mode, why) => {
    const path = write('{}', mode)
    const ran = await cli(newWorld(), ['context', 'list'], { env: env() })
    expect(ran.exit).toBe(2)
    expect(ran.stderr).toContain(why)
    expect(ran.stderr).toContain(`chmod 600 ${path}`)
    expect((await cli(newWorld(), ['context', 'add', 'x', '--store', 'azurite:box'], { env: env() })).exit).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe('{}')
  })

  test('of an unreadable file fails, except for readers of a store that the command line names', () => {
    write('{', 0o644)
    const store = { store: 'azurite:box' }
    expect(contextsFor(store, env(), 'reads').byName.size).toBe(0)
    expect(() => contextsFor(store, env(), 'writes')).toThrow('is readable by others')
    expect(() => contextsFor({}, env(), 'reads')).toThrow('is readable by others')
  })

  test('refuses a folder in which others may write', () => {
    write('{}')
    chmodSync(join(folder, 'leasectl'), 0o777)
    expect(() => readContexts(env())).toThrow('is writable by others (mode 0777)')
  })

  test.runIf(process.getuid?.() === 0)('refuses a file of another user, not one of root', () => {
    const path = write('{}')
    chownSync(path, 12_345, 12_345)
    expect(() => readPrivateFile(path, 0)).toThrow('belongs to another user (12345)')
    expect(readPrivateFile(path, 12_345)).toBe('{}')
    chownSync(path, 0, 0)
    expect(readPrivateFile(path, 12_345)).toBe('{}')
  })

  test('refuses anything but a text file of moderate size', () => {
    const path = contextsPath(env())
    mkdirSync(path)
    expect(() => readContexts(env())).toThrow('is not a file')
    rmSync(path, { recursive: true })
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]), { mode: 0o600 })
    expect(() => readContexts(env())).toThrow('cannot be read')
    write(' '.repeat(1024 * 1024 + 1))
    expect(() => readContexts(env())).toThrow('is too large')
  })
})

describe('writing', () => {
  test('loses none of many concurrent changes, and leaves nothing beside the file', () => {
    const names = Array.from({ length: 20 }, (_, at) => `c${at}`)
    for (const name of names) updateContexts(env(), known => withContext(known, context(name)))
    expect([...readContexts(env()).byName.keys()].sort()).toEqual([...names].sort())
    expect(readdirSync(join(folder, 'leasectl'))).toEqual(['contexts.json'])
  })

  test('shows a reader the old file or the new one, and the last writer wins', () => {
    updateContexts(env(), known => withContext(known, context('a')))
    updateContexts(env(), known => {
      updateContexts(env(), others => withContext(others, context('b')))
      expect([...readContexts(env()).byName.keys()]).toEqual(['a', 'b'])
      return withContext(known, context('c'))
    })
    expect([...readContexts(env()).byName.keys()]).toEqual(['a', 'c'])
    expect(statSync(contextsPath(env())).mode & 0o777).toBe(0o600)
  })

  test('does not happen for a refused change', () => {
    const path = write('{"contexts": {}}')
    const refused = () =>
      updateContexts(env(), () => {
        throw new Error('no')
      })
    expect(refused).toThrow('no')
    expect(readFileSync(path, 'utf8')).toBe('{"contexts": {}}')
    expect(readdirSync(join(folder, 'leasectl'))).toEqual(['contexts.json'])
  })

  test('keeps a link a link', () => {
    const real = join(folder, 'dotfiles.json')
    writeFileSync(real, '{}', { mode: 0o600 })
    symlinkSync(real, contextsPath(env()))
    updateContexts(env(), known => withContext(known, context('x')))
    expect(lstatSync(contextsPath(env())).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('"x"')
    expect(statSync(real).mode & 0o777).toBe(0o600)
  })

  test('to a read-only place is reported', async () => {
    writeFileSync(join(folder, 'plain'), '')
    const add = ['context', 'add', 'x', '--store', 'azurite:box']
    const ran = await cli(newWorld(), add, { env: { XDG_CONFIG_HOME: join(folder, 'plain') } })
    expect(ran.exit).toBe(2)
    expect(ran.stderr).toContain('plain is not a folder')
    const below = await cli(newWorld(), add, { env: { XDG_CONFIG_HOME: join(folder, 'plain', 'x') } })
    expect(below.exit).toBe(2)
    expect(below.stderr).toContain('plain is not a folder')
    const full = await cli(newWorld(), add, { env: { XDG_CONFIG_HOME: '/proc' } })
    expect(full.exit).toBe(2)
    expect(full.stderr).toContain('/proc/leasectl cannot be written')
  })
})

describe('a credential file', () => {
  const KEY = Buffer.from('SECRETSECRET').toString('base64')

  function credentials(text: string, mode = 0o600): string {
    const path = join(folder, 'credentials')
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  const seen = (store: string, text: string, around: Record<string, string> = {}) => {
    const address = parseAddress(store)
    if (address.kind !== 'azure' && address.kind !== 'azurite') throw new Error('not on Azure')
    return credentialFor(address, credentialEnvironment(store, credentials(text), around))
  }

  test.each([
    ['a key', `AZURE_STORAGE_KEY=${KEY}`, { kind: 'key', account: 'acc1', key: KEY }],
    ['a SAS', 'AZURE_STORAGE_SAS_TOKEN="?sv=1&sig=x%3D"', { kind: 'sas', token: 'sv=1&sig=x%3D' }],
    [
      'a connection string',
      `AZURE_STORAGE_CONNECTION_STRING=AccountName=acc1;AccountKey=${KEY}`,
      { kind: 'key', key: KEY },
    ],
    [
      'key and account',
      `# prod\nexport AZURE_STORAGE_ACCOUNT=acc1\nAZURE_STORAGE_KEY='${KEY}'\n`,
      { kind: 'key', key: KEY },
    ],
    [
      'a sign-in',
      'AZURE_TENANT_ID=t\nAZURE_CLIENT_ID=c\nAZURE_CLIENT_SECRET=s',
      { kind: 'entra', source: { kind: 'client-secret', tenantId: 't', clientId: 'c', secret: 's' } },
    ],
  ])('contains %s; the rest of the environment is ignored', (_what, text, wanted) => {
    const around = { AZURE_STORAGE_ACCOUNT: 'acc1', AZURE_STORAGE_KEY: 'OTHER', AZURE_STORAGE_AUTH_MODE: 'login' }
    expect(seen('azure:acc1/box', text, around)).toMatchObject(wanted)
  })

  test('may contain only a key, for the endpoint of the address', () => {
    const text = `AZURE_STORAGE_KEY=${KEY}`
    expect(seen('https://acc1.blob.core.usgovcloudapi.net/box', text)).toMatchObject({ kind: 'key', key: KEY })
    expect(seen('azurite://somewhere:1/box', text)).toMatchObject({
      kind: 'key',
      account: 'devstoreaccount1',
      key: KEY,
    })
  })

  test.each([
    ['azure:acc1/box', `AZURE_STORAGE_KEY=${KEY}`, 0o644, 'is readable by others (mode 0644)'],
    [
      'azure:acc2/box',
      `AZURE_STORAGE_CONNECTION_STRING=AccountName=acc1;AccountKey=${KEY}`,
      0o600,
      'account acc1, the store is on acc2',
    ],
    ['azure:acc1/box', `AZURE_STORAGE_CONNECTION_STRING=AccountKey=${KEY}`, 0o600, 'names no storage account'],
    ['azure:acc1/box', `${KEY}`, 0o600, 'line 1 does not set an Azure variable'],
    ['azure:acc1/box', `\nAZURE_STORAGE_KEYS=${KEY}`, 0o600, 'line 2: AZURE_STORAGE_KEYS is not known'],
    ['azure:acc1/box', '\n# nothing\n', 0o600, 'is empty'],
  ])('%s with %s (%o) is refused and never repeated', async (store, text, mode, why) => {
    const path = credentials(text, mode)
    const argv = ['context', 'add', 'x', '--store', store, '--credential-file', path, '--debug']
    const ran = await cli(newWorld(), argv, { env: env() })
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(why)
    expect(ran.stderr).toContain(path)
    expect(ran.stderr).not.toContain(KEY)
    expect(readContexts(env()).byName.size).toBe(0)
  })

  test('is stored by its path only', async () => {
    const path = credentials(`AZURE_STORAGE_KEY=${KEY}`)
    await cli(newWorld(), ['context', 'add', 'x', '--store', 'azure:acc1/box', '--credential-file', path], {
      env: env(),
    })
    const { stdout } = await cli(newWorld(), ['context', 'list'], { env: env() })
    expect(stdout).toContain(path)
    expect(readFileSync(contextsPath(env()), 'utf8')).not.toContain(KEY)
  })

  test('shows whether a sign-in would be needed', () => {
    expect(needsSignIn('azure:acc1/box', {})).toBe(true)
    expect(needsSignIn('azure:acc1/box', { AZURE_STORAGE_ACCOUNT: 'acc1', AZURE_STORAGE_KEY: KEY })).toBe(false)
    expect(needsSignIn('azurite:box', {})).toBe(false)
    expect(needsSignIn('sqlite:x', {})).toBe(false)
  })
})
