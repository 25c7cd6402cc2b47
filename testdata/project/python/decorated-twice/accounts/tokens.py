import requests

from accounts.policy import passing


class Tokens:
    def __init__(self):
        self.session = requests.Session()

    @passing
    def lookup(self, name):
        return self.session.get(f"https://id.example.org/users/{name}", timeout=4)

    @passing
    def token_of(self, name):
        user = self.lookup(name).json()
        return user["token"]
