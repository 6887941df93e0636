/** `--profile`: given anywhere on the line, it chooses the profile of every command. */
import { Flag, GlobalFlag } from "effect/cli"

const nameForm = "a name of letters, digits, _ and -, up to 32 characters"

export const ProfileName = GlobalFlag.Setting("profile")({
  flag: Flag.String("profile").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("The profile of login to use, for example sandbox or production"),
    Flag.filter(
      (name) => /^[A-Za-z0-9_-]{1,32}$/.test(name),
      () => nameForm
    ),
    Flag.optional
  )
})
