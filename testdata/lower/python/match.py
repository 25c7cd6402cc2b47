from http import HTTPStatus


def act(command, state):
    match command:
        case {"code": 429 | 503, "body": body, **rest}:
            wait(body, rest)
        case [first, *others] if first:
            return others
        case Point(x=0, y=-1) | None:
            pass
        case HTTPStatus.OK | "ok" as good:
            return good
        case str(text):
            return text
        case _:
            raise ValueError(command)
