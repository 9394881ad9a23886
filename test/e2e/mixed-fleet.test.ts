import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerClient } from '@azure/storage-blob'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountUrl, formatAddress } from '../../src/store/address.ts'
import { openContainer } from '../../src/store/azure/client.ts'
import { testAccount } from '../support/live-store.ts'
import { ODD_NAMES } from '../support/odd-blobs.ts'
import { LegacyStream } from '../support/xelement.ts'
import { newUser, type Running, type User } from './program.ts'

const STREAMS = Array.from({ length: 8 }, (_, at) => `fleet/${at + 1}`)

let user: User
beforeEach(async () => {
  user = await newUser()
})
afterEach(() => user.leave())

// Beside other tests it takes five times as long as alone.
test('workers of both kinds end every stream once, beside blobs that are not streams, with one of ours killed', {
  timeout: 300_000,
}, async () => {
  const { container, env } = await newContainer()
  const forks = STREAMS.map(name => `leasectl init ${name} -q --fork A,B --join J`).join('\n')
  expect(await user.shell(forks, env).ended).toMatchObject({ code: 0, stderr: '' })
  await plantOddBlobs(container)

  const doomed = work('doomed', 'A', 'echo up; sleep 600', env, ['--claim', '3s'])
  await doomed.until('stdout', /up/)
  doomed.process.kill('SIGKILL')
  for (const pid of user.processesWith('/bin/sh ./doomed')) process.kill(pid, 'SIGKILL')

  const note = 'echo "$LEASECTL_STREAM $LEASECTL_EVENT" >> ran'
  const ours = [
    work('a1', 'A', note, env),
    work('a2', 'A', note, env),
    work('j1', 'J', note, env),
    work('j2', 'J', note, env),
  ]
  await workAs2013(container, 'B')
  // One process that waits: a start for each look would take the time from the workers.
  const waited = await user.run(['wait', '--match', 'fleet/*', '--within', '240s', '-q'], env)
  expect(waited).toMatchObject({ code: 0, stderr: '' })
  expect(await statuses(env)).toEqual(STREAMS.map(() => 'completed'))
  for (const { process } of ours) process.kill('SIGTERM')
  for (const { ended } of ours) expect(await ended).toMatchObject({ code: 0 })

  const ran = readFileSync(join(user.home, 'ran'), 'utf8').trim().split('\n')
  const each = STREAMS.flatMap(name => [`${name} 01`, `${name} 01.00`])
  expect(ran.toSorted()).toEqual(each.toSorted())
  const starts: number[] = []
  for (const name of STREAMS) {
    const [last, ...before] = ran.filter(line => line.startsWith(`${name} `)).reverse()
    expect({ last, before }).toEqual({ last: `${name} 01`, before: [`${name} 01.00`] })
    const ops = await opsOf(name, env)
    expect(ops).toContain('foreign')
    starts.push(ops.filter(op => op === 'start').length)
  }
  // The event whose worker was killed had a second attempt.
  expect(starts.toSorted()).toEqual([2, 2, 2, 2, 2, 2, 2, 3])
})

/** A worker of ours for the events of a name, whose command is this shell script. */
function work(
  owner: string,
  name: string,
  script: string,
  env: Record<string, string>,
  flags: readonly string[] = [],
): Running {
  writeFileSync(join(user.home, owner), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const argv = ['work', '--name', name, '--owner', owner, '--max-idle', '200ms', ...flags, '--', `./${owner}`]
  return user.start(argv, env)
}

async function opsOf(stream: string, env: Record<string, string>): Promise<string[]> {
  const { stdout } = await user.run(['log', stream, '-o', 'ndjson'], env)
  const lines = stdout.trim().split('\n')
  return lines.map(line => (JSON.parse(line) as { op: string }).op)
}

async function statuses(env: Record<string, string>): Promise<string[]> {
  const { stdout } = await user.run(['ls', '--match', 'fleet/*', '-o', 'ndjson'], env)
  return stdout
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { status: string }).status)
}

/**
 * A worker of the library of 2013: it takes a lease, reads, writes the whole document without a condition and without
 * metadata, and ignores joins and claims. In every second stream it creates each event anew and drops our attributes.
 */
async function workAs2013(container: ContainerClient, name: string): Promise<void> {
  for (const [at, stream] of STREAMS.entries()) {
    const steps = [
      ['init', 'inprocess'],
      ['inprocess', 'completed'],
    ] as const
    for (const [from, to] of steps) {
      const blob = container.getBlockBlobClient(stream)
      const lease = blob.getBlobLeaseClient()
      while (
        !(await lease.acquireLease(15).then(
          () => true,
          () => false,
        ))
      )
        await sleep(20)
      const legacy = new LegacyStream((await blob.downloadToBuffer()).toString())
      const event = legacy
        .select(from)
        .find(({ attributes }) => attributes.some(a => a.name === 'name' && a.value === name))
      const id = event?.attributes.find(attribute => attribute.name === 'id')?.value ?? ''
      legacy.setStatus(id, to)
      const body = legacy.save({ rebuildEvents: at % 2 === 1 })
      await blob.upload(body, body.length, { conditions: { leaseId: lease.leaseId } })
      await lease.releaseLease()
    }
  }
}

/** Blobs of other programs: invalid stream names, another blob type, and content that is not XML. */
async function plantOddBlobs(container: ContainerClient): Promise<void> {
  for (const name of ODD_NAMES) await container.getBlockBlobClient(name).upload('x', 1)
  await container.getAppendBlobClient('fleet-log').create()
  await container.getBlockBlobClient('notes.txt').upload('<not xml', 8)
}

async function newContainer() {
  const account = await testAccount()
  const { address, credential } = await account.direct(account.newContainer())
  const { client } = await openContainer(accountUrl(address), address.container, credential)
  await client.create()
  return { container: client, env: { LEASECTL_STORE: formatAddress(address), TMPDIR: user.home } }
}
