import { type Command, Option } from 'commander'
import { type Pointer, parsePointer, type RecordFields } from '../../inbox/record.ts'
import { jsonPointer, lingerTime } from './values.ts'

/** Where id, key and number of a record are, and how records share blocks. */
export interface RecordFlags {
  readonly idField?: Pointer
  readonly keyField?: Pointer
  readonly seqField?: Pointer
  /** ms */
  readonly linger?: number
}

/** Adds the flags of the commands that put records. */
export function recordFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--id-field <pointer>', 'where the id of a record is, as a JSON pointer (default: /id)').argParser(
        jsonPointer('--id-field'),
      ),
    )
    .addOption(
      new Option('--key-field <pointer>', 'where its key is; without one the id (default: /key)').argParser(
        jsonPointer('--key-field'),
      ),
    )
    .addOption(
      new Option('--seq-field <pointer>', 'where its number within its key is: 1, 2, 3 … (default: none)').argParser(
        jsonPointer('--seq-field'),
      ),
    )
    .addOption(
      new Option(
        '--linger <duration>',
        'how long a record waits for others to share its block (default: 5ms)',
      ).argParser(lingerTime),
    )
}

/** Where the fields of a record are; by default in `/id` and `/key`. */
export function recordFields({ idField, keyField, seqField }: RecordFlags): RecordFields {
  return {
    id: idField ?? parsePointer('/id'),
    key: keyField ?? parsePointer('/key'),
    ...(seqField && { seq: seqField }),
  }
}
