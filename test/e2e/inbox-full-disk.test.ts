import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { newUser } from './program.ts'

const COUNT = 4_000
/** KiB: less than the records need. */
const ROOM = 2_048

/** The limit of the size of a file stands for the end of a disk: writes fail in the middle of a commit. */
test.runIf(process.platform === 'linux')(
  'a put whose file cannot grow says so, waits, and loses nothing once there is room',
  async () => {
    const user = await newUser()
    try {
      const line = (at: number) => JSON.stringify({ id: `o${at}`, text: 'x'.repeat(960) })
      writeFileSync(join(user.home, 'in.ndjson'), `${Array.from({ length: COUNT }, (_, at) => line(at)).join('\n')}\n`)
      expect(await user.run(['inbox', 'create', 'orders', '--store', 'sqlite:a.db'])).toMatchObject({ code: 0 })
      const put = user.shell(
        `ulimit -Sf ${ROOM}; echo "pid $$"; exec leasectl inbox put orders in.ndjson --store sqlite:a.db`,
      )
      await put.until('stderr', /waiting for the store, nothing is lost/)
      const [, pid = ''] = /pid (\d+)/.exec(put.said.stdout) ?? []
      expect(await user.shell(`prlimit --pid ${pid} --fsize=unlimited:unlimited`).ended).toMatchObject({ code: 0 })
      const { code, stdout, stderr } = await put.ended
      expect(stdout).toContain(`✓ orders  ${COUNT} records put`)
      expect(stderr).toContain('the store answers again')
      expect(code).toBe(0)
      expect(idsIn(join(user.home, 'a.db')).size).toBe(COUNT)
    } finally {
      user.leave()
    }
  },
)

function idsIn(file: string): Set<string> {
  const db = new DatabaseSync(file, { readOnly: true })
  const blocks = db.prepare('SELECT lines FROM blocks').all()
  db.close()
  const lines = blocks.flatMap(({ lines }) =>
    Buffer.from(lines as Uint8Array)
      .toString()
      .trimEnd()
      .split('\n'),
  )
  return new Set(lines.map(line => (JSON.parse(line) as { id: string }).id))
}
